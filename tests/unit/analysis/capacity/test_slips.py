"""Slips of units in a catalogue or a profile are refused, with the key, the range and the likely unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from density_study.analysis.capacity.inputs.example import POINTS, labelled
from density_study.analysis.capacity.inputs.points import read_points
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
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
    ],
)
def test_a_slip_in_a_host_type_is_refused(slip: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        offers({**host("one", 1.0, 9000), **slip})


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


def test_a_catalogue_from_the_future_is_named() -> None:
    found = plan(20, hosts=offers(host("one", 1.0, 9000), date="2099-01-01"))
    assert any("2099-01-01, which is in the future" in text for text in found.warnings)


def test_a_copy_of_the_example_is_called_an_example(tmp_path: Path) -> None:
    copy = tmp_path / "mine.csv"
    copy.write_text(POINTS.read_text())
    assert labelled("mine.csv", read_points(copy)).startswith("EXAMPLE")
    assert labelled("mine.csv", ()) == "mine.csv"
