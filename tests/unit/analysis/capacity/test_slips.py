"""Slips of units in a catalogue or a profile are refused, with the key, the range and the likely unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from density_study.analysis.capacity.inputs.example import POINTS, labelled
from density_study.analysis.capacity.inputs.points import parse_points, read_points
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.inputs.question import question
from density_study.analysis.capacity.sizing.cautions import price_warnings
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.checked import dotted
from tests.unit.analysis.capacity.offers import host, offers, speed
from tests.unit.analysis.capacity.planning import plan


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ({"kw": 500}, "is it in W"),
        ({"maintenance": 15}, "is it in percent"),
        ({"ram_gib": 262144}, "is it in TiB or MiB"),
        ({"capex_usd": 11.8}, "is it in thousands"),
        ({"cpu_speed": speed(110)}, "is it in percent or GHz"),
        ({"network_gbit_s": 25000}, "is it in Mbit/s"),
        ({"usd_per_hour": 0.5}, "bought or rented"),
        ({"capex_usd": None, "usd_per_hour": 0.5}, "maintenance and kw belong to bought hosts"),
        ({"disks": [{"disk_type": "hdd", "count": 8, "size_gib": 14.9, "mib_s": 3}]}, "in GB/s"),
        ({"disks": [{"disk_type": "hdd", "count": 8, "size_gib": 3.6}]}, "is it in TiB"),
        (
            {"accelerators": [{"kind": "A100", "count": 1}, {"kind": "a100", "count": 1}]},
            "'a100' is 'A100' at hosts",
        ),
    ],
)
def test_a_slip_in_a_host_type_is_refused(slip: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        offers({**host("one", 1.0, 9000), **slip})


def test_a_bought_host_without_its_power_is_named_and_one_that_takes_none_is_not() -> None:
    """What was left out is not free of charge in silence."""
    silent, said = host("silent", 1.0, 9000), host("said", 1.0, 9000, kw=0)
    del silent["kw"]
    rented = {**silent, "name": "rented", "capex_usd": None, "usd_per_hour": 1.0}
    found = list(price_warnings(offers(silent, said, rented)))
    assert "kw is missing for silent: their power is in no cost" in found
    assert not [line for line in price_warnings(offers(said, rented)) if "kw is missing" in line]


@pytest.mark.parametrize(
    "site", [{"usd_per_kwh": 16, "pue": 1.4}, {"usd_per_kwh": 0.16, "pue": 140}]
)
def test_a_slip_in_the_site_is_refused(site: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="not plausible"):
        offers(host("one", 1.0, 9000), site=site)


@pytest.mark.parametrize("key", ["availability", "peak"])
def test_a_percentage_in_a_profile_is_refused(key: str) -> None:
    fields = read_profile("wgs30x").model_dump(mode="json")
    fields[key] = speed(97)
    with pytest.raises(ValidationError, match="is it in percent"):
        Profile.model_validate(fields)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            ("stages", 0, "core_hours"),
            518_400,
            "core_hours: 518400 is not plausible: .* in seconds",
        ),
        (("stages", 0, "ram_gib"), 16_384, "is it in MiB"),
        (("query", "per_s"), 2e6, "query.per_s: 2e.06 is not plausible: .* is it per day"),
        (("query", "scans"), 2e9, "of all queries"),
        (("daemon_gib",), 8192, "is it in MiB"),
        (("storage", "scratch_gib"), 300_000, "in MiB, or of several genomes"),
        (("storage", "kept", 0, "gib"), 120_000, "in MiB, or of several genomes"),
        (("storage", "kept", 0, "days"), 90_000, "is it in hours"),
        (("stages", 0, "demands", "hdfs_read"), 3.2e10, "in KiB or bytes"),
    ],
)
def test_a_slip_in_a_profile_is_refused_with_its_key(
    tmp_path: Path, key: tuple[str | int, ...], value: float, words: str
) -> None:
    fields: Any = read_profile("wgs30x").model_dump(mode="json")
    at = fields
    for part in key[:-1]:
        at = at[part]
    at[key[-1]] = speed(value)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(fields))
    with pytest.raises(InputError, match=words) as caught:
        read_profile(str(path))
    assert caught.value.where.endswith(f", key {dotted(key)}")
    line = int(caught.value.where.removeprefix(f"{path}:").partition(",")[0])
    assert path.read_text().splitlines()[line - 1].strip(" -").startswith(f"{key[-1]}:")


HEAD = "group,hosts,vms_per_host,disk_type,value,unit,repetition,load,percentile\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            ["r,2,1,hdd,310.5,MiB/s,1,,", "r,4,1,hdd,0.588,MiB/s,1,,"],
            "line 3.*is it in another unit",
        ),
        (["r,2,1,hdd,325582848,MiB/s,1,,"], "in KiB/s or bytes/s"),
        (["r,2,1,hdd,63800,s,1,4000,99"], "value 63800 is not plausible: .* in ms or us"),
        (["r,2,1,hdd,640,percent,1,4000,"], "of one core, summed over all"),
        (["r,2,1,hdd,0.45,percent,1,4000,", "r,2,1,hdd,0.6,percent,1,6000,"], "are they shares"),
        (["r,2,1,hdd,310.5,MiB/s,1,,", "r,2,1,hdd,310.5,MiB/s,1,,"], "line 3.*equal to line 2"),
        (["r,2,1,hdd,310.5,Mb/s,1,,"], "'Mb/s' may mean bits or bytes"),
        (["r,2,1,hdd,310.5,kb/s,1,,"], "'kb/s' may mean bits or bytes; write kB/s"),
        (["r,2,1,hdd,310.5,mb/sec,1,,"], "'mb/sec' may mean .*; write .* MiB/s for TestDFSIO's"),
        (["r,2,1,hdd,310.5,kib/s,1,,"], "'kib/s' may mean bits or bytes"),
        (
            ["r,2,1,hdd,310.5,MiB/s,1,,", "R,4,1,hdd,600,MiB/s,1,,"],
            "line 3.*group is 'R', and 'r' in .*line 2",
        ),
        (["r,2,1,hdd,310.5,MiB/s,1,,", "r,4,1,HDD,600,MiB/s,1,,"], "disk_type is 'HDD', and 'hdd'"),
        (["r\x1b[31m,2,1,hdd,310.5,MiB/s,1,,"], "group is 'r.*31m', with control characters"),
        (["r,2,1,hdd,5,ms,1,4000,0.99"], "percentile must be 1 or more, and below 100, in percent"),
        (["r,2,1,hdd,5,ms,1,4000,100"], "percentile must be 1 or more, and below 100, in percent"),
        (["r,2,1,hdd,5,ms,1,1e300,99"], "load 1e.300 is not plausible"),
        (
            ["r,2,1,hdd,10,ms,1,4000,50", "r,2,1,hdd,5,ms,1,4000,99"],
            "line 3: p99 is 0.005 s, and p50 of the same load 0.01 s: are they swapped",
        ),
    ],
)
def test_a_slip_in_points_is_refused_with_its_line(rows: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_points(HEAD + "\n".join(rows) + "\n", "points.csv")


def test_hosts_with_a_separator_of_thousands_are_refused_with_their_line() -> None:
    text = f"{HEAD}r,1.000,1,hdd,310,MiB/s,1,,\n".replace(",", ";")
    with pytest.raises(InputError, match=r"line 2: hosts is '1.000', which may mean 1 or 1000"):
        parse_points(text, "points.csv")


def test_an_operation_with_control_characters_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"line 2: operation is 'READ.*31m', with control char"):
        parse_points(
            f"{HEAD[:-1]},operation\nr,2,1,hdd,5,ms,1,4000,99,READ\x1b[31m\n", "points.csv"
        )


def test_points_that_scale_or_repeat_are_no_slips() -> None:
    rows = [f"r,{n},1,hdd,{310.5 * n},MiB/s,1,," for n in (1, 8, 64, 128)]
    rows += ["r,1,1,hdd,310.5,MiB/s,2,,", "r,1,1,hdd,310.5,MiB/s,,,", "r,1,1,hdd,310.5,MiB/s,,,"]
    assert len(parse_points(HEAD + "\n".join(rows) + "\n", "points.csv")) == 7


def test_a_load_of_a_year_is_refused() -> None:
    with pytest.raises(InputError, match="is it per year"):
        question(5e6, ())


def test_a_catalogue_from_the_future_is_named() -> None:
    found = plan(20, hosts=offers(host("one", 1.0, 9000), date="2099-01-01"))
    assert any("2099-01-01, which is in the future" in text for text in found.warnings)


def test_a_copy_of_the_example_is_called_an_example(tmp_path: Path) -> None:
    copy = tmp_path / "mine.csv"
    copy.write_text(POINTS.read_text())
    assert labelled("mine.csv", read_points(copy)).startswith("EXAMPLE")
    assert labelled("mine.csv", ()) == "mine.csv"
