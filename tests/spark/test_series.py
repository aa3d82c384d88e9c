"""Series within a trial, bring-up times and prices, compared with plain loops over the generated
truth."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from density_study.jobs.spark.run_tables import struct
from density_study.jobs.test_cases import price_performance
from density_study.workloads import tables
from density_study.workloads.rows.histograms.trial_logs import PERCENTILES
from tests.spark.conftest import Analysed
from tests.spark.support import oracle
from tests.support.truth import MIB

pytestmark = pytest.mark.spark
MILLIONTH = 1e-6


def rows(world: Analysed, table: str, case: str, **which: object) -> pd.DataFrame:
    selected = world.table(table)
    selected = selected[selected["trial"] == world.truths[case].trial]
    for column, value in which.items():
        selected = selected[selected[column] == value]
    return selected


def series(world: Analysed, case: str, name: str) -> dict[int, float]:
    selected = rows(world, "trial_rate_series", case, name=name)
    return dict(zip(selected["second"], selected["rate"], strict=True))


@pytest.mark.parametrize("case", ("write", "mixed", "clock_off", "late_monitor", "lossy"))
def test_host_cpu_of_every_second_within_and_around_the_window(world: Analysed, case: str) -> None:
    by_second = rows(world, "trial_cpu_series", case, scope="host:here").set_index("second")
    truth = oracle.cpu_by_second(world.truths[case])
    assert list(by_second.index) == sorted(truth)  # a second without a sample has no row
    for second, means in truth.items():
        for part in ("user", "system", "idle", "iowait", "steal"):
            assert by_second.loc[second, f"cpu_{part}"] == pytest.approx(means[part], abs=MILLIONTH)
    assert min(by_second.index) < 0 or case == "late_monitor"


@pytest.mark.parametrize("case", ("write", "mixed", "clock_off"))
@pytest.mark.parametrize(("node", "scope"), (("w1", "node:w1"), ("c1", "client")))
def test_node_cpu_of_every_second(world: Analysed, case: str, node: str, scope: str) -> None:
    by_second = rows(world, "trial_cpu_series", case, scope=scope).set_index("second")
    assert set(by_second["host"]) == {"here"}
    truth = oracle.node_by_second(world.truths[case], node)
    for second, percent in truth.items():
        if second in by_second.index:
            used = by_second.loc[second, "cpu_user"] + by_second.loc[second, "cpu_system"]
            assert used == pytest.approx(percent, abs=MILLIONTH), second
        else:  # before a node's first process there is no row and no use
            assert percent == 0, second
    assert len(by_second) > 10


@pytest.mark.parametrize("case", ("load", "mixed", "scan", "clock_off"))
def test_operations_per_second_add_up_to_all_operations(world: Analysed, case: str) -> None:
    truth = oracle.operations_by_second(world.truths[case])
    by_second = series(world, case, "operations")
    assert by_second == pytest.approx(truth, abs=MILLIONTH)
    assert 0.0 in truth.values()  # a JVM starts: no operation is a row with 0
    done = sum(counts["OK"] for counts in world.truths[case].returns.values())
    assert sum(by_second.values()) == pytest.approx(done)


@pytest.mark.parametrize("case", ("write", "fast_random"))
def test_bytes_per_second_add_up_to_all_bytes(world: Analysed, case: str) -> None:
    truth = oracle.transferred_by_second(world.truths[case])
    # a job's history has whole milliseconds
    assert series(world, case, "transferred") == pytest.approx(truth, abs=1e-4)
    moved = sum(size for size, _ in world.truths[case].streams) / MIB
    assert sum(truth.values()) == pytest.approx(moved)


def test_disk_rates_of_every_second(world: Analysed) -> None:
    for name, column in (("disk_read", "read"), ("disk_write", "written")):
        truth = {s: m[column] / MIB for s, m in oracle.cpu_by_second(world.truths["write"]).items()}
        assert series(world, "write", name) == pytest.approx(truth, abs=MILLIONTH)


@pytest.mark.parametrize(
    ("case", "name"), (("mixed", "operations"), ("load", "operations"), ("write", "transferred"))
)
def test_steadiness_covers_whole_seconds_after_the_warm_up(
    world: Analysed, case: str, name: str
) -> None:
    row = rows(world, "steadiness", case, name=name).iloc[0]
    truth = world.truths[case]
    rates = {
        "operations": oracle.operations_by_second,
        "transferred": oracle.transferred_by_second,
    }[name](truth)
    seconds, mean, deviation = oracle.steadiness(truth, rates)
    assert (row["seconds"], row["mean"]) == (seconds, pytest.approx(mean))
    assert row["standard_deviation"] == pytest.approx(deviation, abs=1e-4)
    assert row["coefficient_of_variation"] == pytest.approx(deviation / mean, abs=1e-6)


def test_a_curve_ends_where_operations_are_too_few(world: Analysed) -> None:
    truth = world.truths["scan"]
    for operation in ("SCAN", "INSERT"):
        latencies = oracle.measured_us(truth, operation)
        expected = {
            float(p): value
            for p in PERCENTILES
            if (value := oracle.percentile_ms(latencies, p)) is not None
        }
        percentiles = rows(world, "latency_percentiles", "scan", operation=operation).dropna()
        curve = dict(zip(percentiles["percentile"], percentiles["value_us"] / 1000, strict=True))
        assert curve == pytest.approx(expected, rel=1.001e-3)
        assert set(percentiles["operations"]) == {len(latencies)}
    assert max(curve) < 99


def test_bring_up_is_reported_by_topology_and_phase(world: Analysed) -> None:
    phases = world.table("bringup").set_index(["topology", "phase"])
    assert phases["value_s"].to_dict() == {
        (topology, phase): seconds
        for topology in ("v1-flash", "v2-flash")
        for phase, seconds in (("hdfs", 9.0), ("hbase", 11.5))
    }
    assert [list(points) for points in phases["points_s"]] == [[11.5], [9.0]] * 2


def test_price_performance_is_the_rate_over_the_price_of_all_hosts(spark: SparkSession) -> None:
    trials = [{"trial": t, "topology": p, "usd_per_hour": usd}
              for t, p, usd in (("a", "v1", 0.5), ("b", "v1", 0.5), ("c", "v2", None))]  # fmt: skip
    test_cases = [{"topology": p, "test_case": "s", "name": n, "unit": "ops/s", "value": 300.0, "n": 2,
                 "points": [200.0, 400.0]}
                for p in ("v1", "v2") for n in ("throughput", "cpu_used")]  # fmt: skip
    frames = {
        tables.TRIALS: spark.createDataFrame(trials, struct(tables.TRIALS)),
        tables.TEST_CASE_METRICS: spark.createDataFrame(
            test_cases, struct(tables.TEST_CASE_METRICS)
        ),
    }
    (row,) = price_performance.transform(frames).collect()  # v2 has no price
    assert (row.topology, row.name, row.usd_per_hour) == ("v1", "throughput", 0.5)
    assert (row.value, row.points, row.n) == (600.0, [400.0, 800.0], 2)


def test_without_prices_no_price_performance_is_reported(world: Analysed) -> None:
    assert world.table("price_performance").empty
