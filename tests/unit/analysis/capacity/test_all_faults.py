"""A file of capacity planning with several faults is one message that names them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, read_catalogue
from density_study.analysis.capacity.inputs.points import parse_points
from density_study.analysis.capacity.inputs.profile import SHIPPED, read_profile
from density_study.cluster.model.errors import InputError

POINTS = "group,hosts,vms_per_host,disk_type,value,unit,repetition\n"


def message(path: Path, shipped: Path, *changes: tuple[str, str]) -> str:
    """The refusal of a copy of a shipped file with changes, each at its first place."""
    text = shipped.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    read = read_catalogue if shipped == EXAMPLE else lambda path: read_profile(str(path))
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "cores: 16\n    cpu",
            "cores: yes\n    cpu",
            "hosts[0].cores: true (also yes, no, on, off)",
        ),
        ("kw: 0.25", "kw: on", "hosts[0].kw: true"),
        ("name: small-hdd", "name: NO", "hosts[1].name: false"),
        ("name: small-hdd", "name: ' '", "hosts[1].name"),
        ("name: small-hdd", 'name: "a\\e[31mb"', "hosts[1].name: 'a?[31mb' has control characters"),
        ("name: small-hdd", "name: small-flash", "duplicate host type: 'small-flash'"),
        ("name: small-hdd", "name: Small-Flash", "duplicate host type: 'small-flash'"),
        ("capex_usd: 5200", "capex_usb: 5200", "did you mean capex_usd?"),
        ("capex_usd: 5200", "capex_usd: 0o7", "write a number, not '0o7'"),
        ("    capex_usd: 5200\n", "    usd_per_hour: 12:30\n", "write a number, not '12:30'"),
    ],
)
def test_a_trap_of_a_catalogue_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in message(tmp_path / "mine.yaml", EXAMPLE, (old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    tasks: 4\n", "    tasks: true\n", "stages[0].tasks: true"),
        (
            "    tasks: 4\n",
            "    tasks: 4000000000\n",
            "stages[0].tasks: it must be 10,000,000 or less",
        ),
        ("cores_per_task: 8", "cores_per_task: 80000", "it must be 10,000 or less"),
        ("replication: 3", "replication: 300", "storage.replication: it must be 20 or less"),
        ("rho_max: 0.8", "rho_max: 0.008", "rho_max: it must be 0.05 or more"),
        ("low: 1.1, high: 1.6", "low: 1.1, high: 160", "peak 1.3 (1.1 to 160) is the busiest hour"),
        ("value: 8, low: 7, high: 10,", "value: 8, low: 7, high: 1e9,", "1e+09 is not plausible"),
    ],
)
def test_a_trap_of_a_profile_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in message(tmp_path / "mine.yaml", SHIPPED / "wgs30x.yaml", (old, new))


def test_all_faults_of_a_catalogue_are_one_message(tmp_path: Path) -> None:
    text = message(
        tmp_path / "mine.yaml",
        EXAMPLE,
        ("cores: 16\n    cpu", "cores: 0\n    cpu"),
        ("usd_per_kwh: 0.16", "usd_per_kwh: 16"),
        ("capex_usd: 5600", "capex_eur: 5600"),
    )
    assert "3 faults" in text
    for key in ("site.usd_per_kwh: 16", "hosts[0].cores: 0", "hosts[1].capex_eur: unknown key"):
        assert key in text


def test_all_slips_of_a_profile_are_one_message(tmp_path: Path) -> None:
    text = message(
        tmp_path / "mine.yaml",
        SHIPPED / "wgs30x.yaml",
        ("value: 98.8, low: 68, high: 125", "value: 355680, low: 244800, high: 450000"),
        ("value: 14, low: 12, high: 16", "value: 14336, low: 12288, high: 16384"),
    )
    assert "align.core_hours: 355680" in text and "sort-markdup.ram_gib: 14336" in text


def test_all_faults_of_points_are_one_message_of_bounded_length() -> None:
    rows = ["a,1,1,hdd,-1,s,1", "a,2,1,hdd,4,s,1", "a,x,1,hdd,3,s,1", "a,4,1,hdd,3,parsec,1"]
    with pytest.raises(InputError) as caught:
        parse_points(POINTS + "\n".join(rows), "p.csv")
    text = str(caught.value)
    for words in ("3 faults", "line 2: value is '-1'", "line 4: hosts is 'x'", "line 5", "parsec"):
        assert words in text
    with pytest.raises(InputError) as caught:
        parse_points(POINTS + "a,1,1,hdd,-1,s,1\n" * 10_000, "p.csv")
    assert len(str(caught.value)) < 5000
