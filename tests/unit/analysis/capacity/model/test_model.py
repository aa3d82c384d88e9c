"""Round trip from fit to model.json; data that cannot be fitted are named; unknown formats are
refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model, read_model, write_model
from density_study.analysis.capacity.curves.surface import surfaces, surfaces_of
from density_study.analysis.capacity.inputs.points import parse_points
from density_study.cluster.model.errors import InputError
from tests.support.capacity.populations import measured, truths


def test_a_model_survives_the_round_trip(tmp_path: Path) -> None:
    model = fit(
        measured(truths(2, 1), (1, 2, 4, 8), seed=1, densities=(1, 2, 3, 4)), ["points.csv"]
    )
    write_model(model, tmp_path / "model.json")
    assert read_model(tmp_path / "model.json") == model
    assert {fit.vms_per_host for fit in model.scaling} == {1, 2, 3, 4}
    assert all(law.beta_fitted for law in model.density)
    first = model.scaling[0]
    assert (first.smallest_hosts, first.largest_hosts, len(first.cells)) == (1, 8, 4)
    assert all(abs(cell.residual) < 0.2 and cell.left_out is not None for cell in first.cells)
    assert 0.005 < first.error.inside < 0.4


def test_interaction_is_detected_only_where_it_exists() -> None:
    points = measured(truths(1, 1, noise=0.02), (1, 2, 4), seed=1, densities=(1, 2))
    quiet = fit(points, [])
    assert quiet.interactions[0].verdict == "not shown", (
        "a test that finds nothing proves no absence"
    )
    older = quiet.model_dump_json().replace('"not shown"', '"absent"')
    assert Model.model_validate_json(older) == quiet
    flipped = [
        p.model_copy(update={"value": 1.5 * p.value}) if (p.hosts, p.vms_per_host) == (4, 2) else p
        for p in points
    ]
    assert fit(flipped, []).interactions[0].verdict == "present"


def test_one_host_count_with_densities_is_fitted_and_reported() -> None:
    model = fit(measured(truths(1, 1), (1,), seed=1, densities=(1, 2, 4)), [])
    assert model.scaling == ()
    assert not model.density[0].beta_fitted
    assert any("only one host count (1)" in excuse for excuse in model.excuses)
    assert any("beta = 0" in excuse for excuse in model.excuses)


def test_data_without_a_fit_are_refused_with_the_missing_measurements() -> None:
    with pytest.raises(InputError, match=r"only one host count \(2\)") as caught:
        fit(measured(truths(1, 1), (2,), seed=1), [])
    assert "3 or more host counts" in caught.value.remedy
    with pytest.raises(InputError, match="too few points"):
        fit(measured(truths(1, 1), (2, 4), seed=1), [])
    head = "group,hosts,vms_per_host,disk_type,value,unit,repetition,load\n"
    with pytest.raises(InputError, match="no time and no rate"):
        fit(parse_points(head + "a,1,1,flash,50,percent,1,100\n", "p"), [])


def test_load_curves_are_fitted_by_operation_and_percentile() -> None:
    lines = [
        "q,1,1,flash,1000,ops/s,1,,,",
        "q,2,1,flash,1900,ops/s,1,,,",
        "q,4,1,flash,3500,ops/s,1,,,",
    ]
    for rho in (0.3, 0.5, 0.7, 0.9):
        lines.append(f"q,1,1,flash,{10 * (1 + rho**3 / (1 - rho))},ms,1,{1000 * rho},95,SCAN")
        lines.append(f"q,1,1,flash,{5 + 80 * rho},percent,1,{1000 * rho},,")
    head = "group,hosts,vms_per_host,disk_type,value,unit,repetition,load,percentile,operation\n"
    model = fit(parse_points(head + "\n".join(lines) + "\n", "p"), [])
    (latency,) = model.latency
    assert (latency.operation, latency.percentile, latency.largest_rho) == ("SCAN", 95.0, 0.9)
    (law,) = model.utilization
    assert law.idle_percent == pytest.approx(5)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', '{"format": 1}'])
def test_an_invalid_model_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read_model(path)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_model(fit(measured(truths(1, 1), (1, 2, 4), seed=1), []), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "extra": 1}))
    with pytest.raises(InputError, match="extra"):
        read_model(path)


def test_a_forecast_is_of_its_own_hosts_and_density_however_often_it_is_asked() -> None:
    """Surfaces and their forecasts are kept: these are asked in two orders."""
    points = tuple(measured(truths(1, 1), (1, 2, 4, 8), seed=1, densities=(1, 2, 4)))
    asked = [(np.array(hosts), v) for hosts in ([4.0, 8.0], [8.0]) for v in (1, 2, 4)]
    (kept,), (fresh,) = surfaces_of(points).values(), surfaces(points).values()
    assert kept in surfaces_of(points).values()
    first = [kept.forecast(hosts, v).prediction.log_time.tolist() for hosts, v in asked]
    other = [fresh.forecast(hosts, v).prediction.log_time.tolist() for hosts, v in asked[::-1]]
    assert first == other[::-1] and first[0] != first[1]
