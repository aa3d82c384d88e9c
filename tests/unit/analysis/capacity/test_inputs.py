"""Profiles, catalogues and Nextflow traces: shipped ones are valid, errors are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, read_catalogue
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.ranged import UncertainValue
from density_study.cluster.model.errors import InputError
from tests.support.capacity import example_points


@pytest.mark.parametrize("name", ["wgs30x", "exome", "cohort-query"])
def test_shipped_inputs_are_valid_and_every_value_has_a_source(name: str) -> None:
    profile = read_profile(name)
    assert profile.profile == name
    for label, value in profile.ranges():
        assert value.source, label
        assert value.low <= value.value <= value.high


def test_wgs30x_needs_about_150_core_hours() -> None:
    hours = sum(s.core_hours.value for s in read_profile("wgs30x").stages if s.core_hours)
    assert 140 <= hours <= 170


def test_the_example_catalogue_is_dated_and_its_points_come_from_the_generator() -> None:
    example = read_catalogue(EXAMPLE)
    assert example.date.year >= 2026
    assert "made-up" in example.price_basis
    lines = (EXAMPLE.parent / "points.csv").read_text().splitlines()
    assert lines[0] == ",".join(example_points.HEAD)
    assert lines[1:] == [",".join(str(cell) for cell in row) for row in example_points.rows()]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda v: v["stages"][0]["core_hours"].update(low=500), "low"),
        (lambda v: v["stages"][0]["core_hours"].pop("source"), "source"),
        (lambda v: v["stages"][0]["core_hours"].update(tag="guessed"), "tag"),
        (lambda v: v["stages"][0].update(after=["load"]), "does not precede it"),
        (lambda v: v["stages"][1].update(name="align"), "twice"),
        (lambda v: v.update(format=2), "format"),
        (lambda v: v.update(extra=1), "extra"),
        (lambda v: v["peak"].update(value=-1), "peak"),
    ],
)
def test_an_invalid_profile_is_refused_and_named(
    tmp_path: Path, change: object, named: str
) -> None:
    value = read_profile("wgs30x").model_dump(mode="json")
    change(value)  # type: ignore[operator]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError) as caught:
        read_profile(str(path))
    assert named in str(caught.value)
    assert caught.value.where.startswith(f"{path}:")


def test_an_unknown_profile_is_refused_with_the_shipped_names() -> None:
    with pytest.raises(InputError) as caught:
        read_profile("wgs300x")
    assert "cohort-query, exome, wgs30x" in caught.value.remedy


def test_missing_prices_are_refused_and_named(tmp_path: Path) -> None:
    value = yaml.safe_load(EXAMPLE.read_text())
    for offer in value["hosts"]:
        offer.pop("capex_usd", None)
        offer.pop("usd_per_hour", None)
    path = tmp_path / "hosts.yaml"
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError, match="prices are missing: none of small-flash"):
        read_catalogue(path)
    path.write_text("format: [")
    with pytest.raises(InputError, match="not valid YAML"):
        read_catalogue(path)


def test_draws_of_a_range_follow_its_bounds() -> None:
    value = UncertainValue(value=10, low=5, high=40, tag="assumed", source="test")
    drawn = value.draws(np.random.default_rng(1), 20000)
    assert np.quantile(drawn, (0.05, 0.5, 0.95)) == pytest.approx((5, 10, 40), rel=0.05)
    fixed = UncertainValue(value=3, low=3, high=3, tag="measured", source="test")
    assert set(fixed.draws(np.random.default_rng(1), 10)) == {3.0}


@pytest.mark.parametrize("number", [".inf", ".nan"])
def test_an_invalid_number_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "mine.yaml"
    value = read_profile("wgs30x").model_dump(mode="json")
    value["peak"].update(value=float(number.removeprefix(".")), high=float("inf"))
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(InputError, match="finite number"):
        read_profile(str(path))
