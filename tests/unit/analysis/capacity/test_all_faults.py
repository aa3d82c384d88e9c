"""A file of capacity planning with several faults is one message that names them all."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, read_catalogue
from density_study.analysis.capacity.inputs.points import parse_points
from density_study.analysis.capacity.inputs.profile import SHIPPED, read_profile
from density_study.cluster.model.errors import FaultsError, InputError

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
        ("cores: 16\n    cpu", "cores: yes\n    cpu", "hosts[0].cores: true (also yes, no, on, off)"),
        ("kw: 0.25", "kw: on", "hosts[0].kw: true"),
        ("name: small-hdd", "name: NO", "hosts[1].name: false"),
        ("name: small-hdd", "name: ' '", "hosts[1].name: ' ' is not a name"),
        ("name: small-hdd", "name: '\u00a0'", "is not a name"),
        ("name: small-hdd", "name: ''", "hosts[1].name: '' is not a name"),
        ("name: small-hdd", 'name: "a\\e[31mb"', "hosts[1].name: 'a?[31mb' has control characters"),
        ("name: small-hdd", "name: small-flash", "duplicate host type: 'small-flash'"),
        ("name: small-hdd", "name: Small-Flash",
         "hosts[1].name: duplicate host type: 'small-flash' and 'Small-Flash'"),
        ("disk_type: hdd, count: 12", "disk_type: HDD, count: 12",
         "hosts[3].disks[1].disk_type: 'HDD' is 'hdd' at measured_on.disks[1].disk_type"),
        ("price_basis: made-up list prices, USD, without tax", "price_basis: ''",
         "price_basis: write text of 1 or more letters, not ''"),
        ("capex_usd: 5200", "capex_usb: 5200", "did you mean capex_usd?"),
        ("capex_usd: 5200", "capex_usd: 0o7", "write a number, not '0o7'"),
        ("    capex_usd: 5200\n", "    usd_per_hour: 12:30\n", "write a number, not '12:30'"),
    ],
)  # fmt: skip
def test_a_trap_of_a_catalogue_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in message(tmp_path / "mine.yaml", EXAMPLE, (old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    tasks: 4\n", "    tasks: true\n", "stages[0].tasks: true"),
        ("name: align", "name: 'Align '",
         "stages[0].name: write text of the form ^[a-z0-9-]+$, not 'Align '"),
        ("    tasks: 4\n", "    tasks: 4000000000\n", "stages[0].tasks: it must be 10,000,000 or less"),
        ("cores_per_task: 8", "cores_per_task: 80000", "it must be 10,000 or less"),
        ("replication: 3", "replication: 300", "storage.replication: it must be 20 or less"),
        ("rho_max: 0.8", "rho_max: 0.008", "rho_max: it must be 0.05 or more"),
        ("low: 1.1, high: 1.6", "low: 1.1, high: 160", "peak 1.3 (1.1 to 160) is the busiest hour"),
        ("value: 8, low: 7, high: 10,", "value: 8, low: 7, high: 1e9,", "1e+09 is not plausible"),
    ],
)  # fmt: skip
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
    lines = (tmp_path / "mine.yaml").read_text().splitlines()
    for number, key in (("355680", "stages[0].core_hours"), ("14336", "stages[1].ram_gib")):
        (line,) = (place for place, one in enumerate(lines, start=1) if number in one)
        assert f"mine.yaml:{line}, key {key}: " in text


def test_a_slip_of_hours_of_accelerators_has_its_key(tmp_path: Path) -> None:
    shipped = SHIPPED / "wgs30x-gpu.yaml"
    text = message(
        tmp_path / "mine.yaml", shipped, ("3.2, low: 2.5, high: 4.7", "9e5, low: 9e5, high: 9e5")
    )
    assert (
        "mine.yaml:12, key stages[0].accelerator.hours: germline.accelerator_hours: 900000" in text
    )


def test_slips_of_a_profile_of_many_stages_are_a_message_of_bounded_length(tmp_path: Path) -> None:
    fields = read_profile("wgs30x").model_dump(mode="json")
    slip = {"value": 9e9, "low": 9e9, "high": 9e9, "tag": "assumed", "source": "x"}
    fields["stages"] = [
        {"name": f"s{place}", "core_hours": slip, "ram_gib": slip} for place in range(200)
    ]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(fields))
    with pytest.raises(InputError) as caught:
        read_profile(str(path))
    text = str(caught.value)
    assert "s0.core_hours: " in text and "s9.ram_gib: " in text and "s10.core_hours" not in text


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


@pytest.mark.parametrize(
    ("faulty", "good", "told"), [(20, 0, False), (20, 1, True), (21, 0, True), (19, 9, False)]
)
def test_the_last_of_twenty_faults_says_that_further_lines_were_not_checked(
    faulty: int, good: int, told: bool
) -> None:
    rows = ["a,1,1,hdd,-1,s,1"] * faulty + [f"a,{place + 1},1,hdd,4,s,1" for place in range(good)]
    with pytest.raises(FaultsError) as caught:
        parse_points(POINTS + "\n".join(rows), "p.csv")
    assert len(caught.value.faults) == min(faulty, 20)
    last = "it must be positive. (further lines were not checked)"
    assert [last in one.what for one in caught.value.faults[-2:]] == [False, told]
    assert caught.value.faults[-1].where == f"p.csv, line {min(faulty, 20) + 1}"


def test_all_slips_of_points_are_one_message_with_a_fault_for_each_line() -> None:
    rows = ["r,1,1,hdd,310.5,MiB/s,1", "r,2,1,hdd,621,MiB/s,1", "r,2,1,hdd,0.3,MiB/s,1",
            "r,4,1,hdd,0.6,MiB/s,1", "r,2,1,hdd,621,MiB/s,1", "r,4,1,HDD,1200,MiB/s,1",
            "w,1,1,hdd,325582848,MiB/s,1", "w,2,1,hdd,300,MiB/s,1", "r,3,1,hdd,930,MiB/s,1"]  # fmt: skip
    with pytest.raises(FaultsError) as caught:
        parse_points(POINTS + "\n".join(rows), "p.csv")
    found = {one.where.rpartition(" ")[2]: one.what for one in caught.value.faults}
    assert set(found) == {"4", "5", "6", "7", "8"} and len(caught.value.faults) == 5
    for line, words in (
        ("4", "beside 310.5 on 1: is it in another unit"),
        ("5", "is it in another unit"),
        ("6", "equal to line 3"),
        ("7", "'HDD', and 'hdd'"),
        ("8", "in KiB/s or bytes/s"),
    ):
        assert words in found[line]


def test_all_groups_that_mix_units_are_one_message() -> None:
    rows = ["a,1,1,hdd,4,s,1", "a,2,1,hdd,4,MiB/s,1", "b,1,1,hdd,4,s,1", "b,2,1,hdd,4,ops/s,1"]
    with pytest.raises(InputError) as caught:
        parse_points(POINTS + "\n".join(rows), "p.csv")
    assert "group 'a' mixes units: MiB/s, s." in str(caught.value)
    assert "group 'b' mixes units: ops/s, s." in str(caught.value)


def test_slips_of_points_are_a_message_of_bounded_length() -> None:
    rows = [f"r,1,1,hdd,{325582848 + place},MiB/s,1" for place in range(10_000)]
    with pytest.raises(FaultsError) as caught:
        parse_points(POINTS + "\n".join(rows), "p.csv")
    assert len(caught.value.faults) == 20
    assert caught.value.faults[-1].what.endswith("(the first 20 faults)")
