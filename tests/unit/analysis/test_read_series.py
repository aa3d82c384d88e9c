"""The summary's series from the tables of samples within trials, compared with plain loops."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import Any

import pandas as pd
import pytest

from density_study.analysis.summarise.read_rows import (
    case_steadiness,
    price_performance,
    steadiness,
    usd_per_hour,
    with_rows,
)
from density_study.analysis.summarise.read_series import trial_series
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table, write_rows

TRIALS = ("b1-a", "b1-b")


def cpu_rows() -> list[dict[str, Any]]:
    """Two trials, a host with all fields and a node with only user and system; second 3 is
    missing."""
    rows = []
    for place, trial in enumerate(TRIALS):
        for second in (-2, -1, 0, 1, 2, 4, 5, 6, 7):
            user = 10.0 * place + second + 0.125
            shared = {"trial": trial, "host": "h1", "second": second, "cpu_user": user}
            rows.append({**shared, "scope": "node:w1", "cpu_system": 1.0})
            whole = {"cpu_system": 5.0, "cpu_iowait": 1.0, "cpu_steal": 0.0}
            rows.append({**shared, "scope": "host:h1", **whole, "cpu_idle": 94.0 - user})
    return rows


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_rows(tmp_path, tables.TRIAL_CPU_SERIES, cpu_rows())
    rates = [
        {"trial": "b1-a", "name": name, "unit": unit, "second": second, "rate": 100.0 * second}
        for name, unit in (("operations", "ops/s"), ("disk_read", "MiB/s"))
        for second in range(8)
    ]
    write_rows(tmp_path, tables.TRIAL_RATE_SERIES, rates)
    curve = [
        {"trial": "b1-a", "operation": "READ", "latency_kind": "closed-loop", "percentile": at,
         "value_us": value_us, "operations": 1000}
        for at, value_us in ((99.0, 9000), (50.0, 1500), (99.99, None))
    ]  # fmt: skip
    write_rows(tmp_path, tables.LATENCY_PERCENTILES, curve)
    return tmp_path


def plain_means(trial: str, scope: str, part: str, step_s: int) -> dict[int, float]:
    bins = defaultdict(list)
    for row in cpu_rows():
        if (row["trial"], row["scope"]) == (trial, scope):
            start = [s for s in range(-600, 600, step_s) if s <= row["second"]][-1]
            bins[start].append(row[f"cpu_{part}"])
    return {start: round(mean(values), 2) for start, values in bins.items()}


@pytest.mark.parametrize(("most", "step_s"), [(1000, 1), (120, 2), (60, 5)])
def test_a_series_is_the_mean_over_the_smallest_step_that_fits(
    run: Path, most: int, step_s: int
) -> None:
    series = trial_series(run, TRIALS, most)
    assert [(entry.trial, entry.step_s) for entry in series] == [(t, step_s) for t in TRIALS]
    for entry in series:
        for cpu in entry.cpu:
            wanted = plain_means(entry.trial, cpu.scope, "user", step_s)
            assert dict(zip(cpu.at_s, cpu.user, strict=True)) == pytest.approx(wanted, abs=0.006)


def test_a_single_long_trial_is_averaged_too(tmp_path: Path) -> None:
    rows = [
        {"trial": "t", "name": "operations", "unit": "ops/s", "second": second, "rate": 1.0}
        for second in range(-10, 790)
    ]
    write_rows(tmp_path, tables.TRIAL_RATE_SERIES, rows)
    (only,) = trial_series(tmp_path, ["t"])
    assert (only.step_s, len(only.rates[0].rate)) == (2, 400)


def test_missing_fields_are_omitted_and_a_gap_stays_a_gap(run: Path) -> None:
    first, _ = trial_series(run, TRIALS)
    host, node = first.cpu
    assert (host.scope, node.scope) == ("host:h1", "node:w1")
    assert (node.idle, node.iowait, host.irq) == ((), (), ())
    assert host.steal == (0.0,) * 9
    assert host.at_s == (-2, -1, 0, 1, 2, 4, 5, 6, 7)


def test_rates_and_curves_equal_those_of_the_tables(run: Path) -> None:
    first, second = trial_series(run, TRIALS)
    assert [(rate.name, rate.unit) for rate in first.rates] == [
        ("disk_read", "MiB/s"),
        ("operations", "ops/s"),
    ]
    assert first.rates[1].rate == tuple(100.0 * at for at in range(8))
    (curve,) = first.latency
    assert (curve.percentile, curve.ms, curve.operations) == ((50.0, 99.0), (1.5, 9.0), 1000)
    assert (second.rates, second.latency) == ((), ())


def test_the_order_is_that_of_the_requested_trials(run: Path) -> None:
    assert [entry.trial for entry in trial_series(run, ["b1-b", "nowhere", "b1-a"])] == [
        "b1-b",
        "b1-a",
    ]


def test_a_run_without_these_tables_has_no_series(tmp_path: Path) -> None:
    assert trial_series(tmp_path, TRIALS) == ()
    assert len(steadiness(tmp_path)) == len(price_performance(tmp_path)) == 0
    assert usd_per_hour(tmp_path) == {}


def test_steadiness_of_a_test_case_combines_its_builds(tmp_path: Path) -> None:
    spread = {"t1": 0.1, "t2": 0.3, "t3": 0.5, "t4": None, "t5": 0.9}
    rows = [
        {"trial": trial, "name": name, "unit": "ops/s", "coefficient_of_variation": cv}
        for trial, cv in spread.items()
        for name in ("operations", "disk_read", "transferred")
    ]
    write_rows(tmp_path, tables.STEADINESS, rows)
    builds = {"t1": "b1", "t2": "b1", "t3": "b2", "t4": "b3"}  # t5 is not valid
    valid = pd.DataFrame(
        [(trial, "v1", "s", int(build[1]), build) for trial, build in builds.items()],
        columns=["trial", "topology", "test_case", "repetition", "build"],
    )
    steady = steadiness(tmp_path)
    assert set(steady["name"]) == {"throughput_cv"}
    assert len(steady) == 5
    (row,) = case_steadiness(steady, valid).to_dict("records")
    assert row["points"] == pytest.approx((20.0, 50.0))
    assert row["value"] == pytest.approx(median((20.0, 50.0)))
    assert (row["n"], row["unit"]) == (2, "percent")
    assert len(case_steadiness(steady, valid.iloc[:0])) == 0


def test_price_performance_becomes_a_number_of_the_test_case(tmp_path: Path) -> None:
    rows = [
        {"topology": "v1", "test_case": "s", "name": name, "unit": "MiB/s", "usd_per_hour": 0.5,
         "value": 200.0, "n": 2, "points": [180.0, 220.0]}
        for name in ("throughput_map_phase", "throughput_job")
    ]  # fmt: skip
    write_rows(tmp_path, tables.PRICE_PERFORMANCE, rows)
    write_rows(tmp_path, tables.TEST_CASE_METRICS, [])
    metrics = read_table(tmp_path, tables.TEST_CASE_METRICS)
    (row,) = with_rows(
        tables.TEST_CASE_METRICS, metrics, price_performance(tmp_path)
    ).to_dict("records")  # fmt: skip
    assert (row["name"], row["unit"], row["value"]) == (
        "price_performance",
        "MiB/s per USD/h",
        200.0,
    )
    assert list(row["points"]) == [180.0, 220.0]
    assert usd_per_hour(tmp_path) == {"v1": 0.5}


def test_of_many_device_series_those_of_slow_trials_are_kept(tmp_path: Path) -> None:
    """They do not make the steps of the other series longer."""
    names = [f"t{n}" for n in range(4)]
    write_rows(tmp_path, tables.DEVICE_SERIES, [
        {"trial": name, "host": "h", "device": "disks", "source": "sda", "name": "read_await", "unit": "ms",
         "second": second, "value": 1.0}
        for name in names for second in range(100)
    ])  # fmt: skip
    write_rows(tmp_path, tables.TRIAL_CAUSES, [{"trial": "t2", "rank": 1, "cause": "slow-disk"}])
    found = {one.trial: one for one in trial_series(tmp_path, names, 200)}
    assert set(found) == {"t2", "t0"}
    assert {one.step_s for one in found.values()} == {1}
