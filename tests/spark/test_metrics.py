"""Utilization, latency and throughput compared with plain loops over the generated truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from density_study.workloads.execution.saturation import measured_ops_s
from density_study.workloads.record.record import read_manifest
from density_study.workloads.rows.histograms.trial_logs import PERCENTILES
from tests.spark.conftest import Analysed
from tests.spark.support import oracle
from tests.support.truth import MIB

pytestmark = pytest.mark.spark
SOUND = ("write", "mixed", "scan_v2", "clock_off", "late_monitor")
"""The late monitor's first row, a mean since boot, is within the window."""


@pytest.mark.parametrize("case", SOUND)
def test_host_cpu_is_the_windows_mean_without_idle_iowait_and_steal(
    world: Analysed, case: str
) -> None:
    means = oracle.host_means(world.truths[case])
    used = 100 - means["idle"] - means["iowait"] - means["steal"]
    assert world.metric(case, "cpu_used", scope="host:here") == pytest.approx(used, abs=1e-6)
    for part in ("user", "system", "idle", "iowait", "steal"):
        assert world.metric(case, f"cpu_{part}", scope="host:here") == pytest.approx(
            means[part], abs=1e-6
        )


@pytest.mark.parametrize("case", SOUND)
def test_disk_rates_are_dools_in_mib(world: Analysed, case: str) -> None:
    means = oracle.host_means(world.truths[case])
    read, written = world.metric(case, "disk_read"), world.metric(case, "disk_write")
    assert (read, written) == pytest.approx((means["read"] / MIB, means["written"] / MIB), abs=1e-6)


@pytest.mark.parametrize("case", SOUND)
def test_node_cpu_is_interpolated_at_the_windows_edges(world: Analysed, case: str) -> None:
    truth = world.truths[case]
    nodes = {"m1", "w1", "w2"} & truth.ticks[0][1].keys()
    shares = {f"node:{node}": oracle.node_percent(truth, node) for node in nodes}
    shares |= {scope: oracle.node_percent(truth, node) for scope, node in
               (("client", "c1"), ("monitor", "monitor"))}  # fmt: skip
    for scope, share in shares.items():
        assert world.metric(case, "cpu_used", scope=scope) == pytest.approx(share, abs=1e-6), scope
    cluster = sum(shares[f"node:{node}"] for node in nodes)
    assert world.metric(case, "cpu_used", scope="cluster") == pytest.approx(cluster, abs=1e-6)
    apart = world.metric(case, "cpu_used", scope="host:here") - shares["client"] - shares["monitor"]
    assert world.metric(case, "cpu_used", scope="host-less-client:here") == pytest.approx(
        apart, abs=1e-6
    )


@pytest.mark.parametrize("case", ("load", "mixed", "scan", "clock_off", "several"))
@pytest.mark.parametrize("percentile", ("50", "90", "95", "99", "99.9"))
def test_percentiles_come_from_all_measured_latencies(
    world: Analysed, case: str, percentile: str
) -> None:
    for operation in world.truths[case].latencies_us:
        truth = oracle.percentile_ms(oracle.measured_us(world.truths[case], operation), percentile)
        value = world.metric(case, "latency", operation=operation, percentile=float(percentile))
        if truth is None:
            assert math.isnan(value)
        else:  # a bucket of three significant digits ends at most a thousandth above
            assert truth <= value <= truth * 1.001 + 1e-9


@pytest.mark.parametrize("operation", ("READ", "INSERT"))
def test_percentiles_are_those_of_all_clients_latencies_together(
    world: Analysed, operation: str
) -> None:
    """Exactly, with the rounding of the library that wrote them; it knows nothing of intervals."""
    truth = world.truths["several"]
    rounds = HdrHistogram(1, 3_600_000_000, 3).get_highest_equivalent_value
    together = sorted(map(rounds, oracle.measured_us(truth, operation)))
    rows = world.table("latency_percentiles")
    rows = rows[(rows["trial"] == truth.trial) & (rows["operation"] == operation)]
    assert set(rows["operations"]) == {len(together)}
    values = dict(zip(rows["percentile"], rows["value_us"] / 1000, strict=True))
    expected = {float(p): oracle.percentile_ms(together, p) or math.nan for p in PERCENTILES}
    assert values == pytest.approx(expected, rel=1e-12, nan_ok=True)
    files = world.table("ycsb_histograms")
    assert files[files["trial"] == truth.trial]["client"].nunique() == 3


def test_too_few_operations_give_no_percentile(world: Analysed) -> None:
    few = len(oracle.measured_us(world.truths["scan"], "INSERT"))
    assert 200 < few < 1000
    rows = world.metrics("scan", "latency", operation="INSERT").set_index("percentile")["value"]
    assert rows[[50.0, 90.0, 95.0]].notna().all()
    assert rows[[99.0, 99.9]].isna().all()


def test_cleanup_is_not_a_user_operation(world: Analysed) -> None:
    assert set(world.metrics("mixed", "latency")["operation"]) == {"READ", "INSERT"}
    assert set(world.metrics("mixed", "latency")["latency_kind"]) == {"closed-loop"}


@pytest.mark.parametrize("case", ("mixed", "scan", "clock_off", "several"))
def test_ycsb_rate_covers_the_time_after_the_warm_up(world: Analysed, case: str) -> None:
    assert world.metric(case, "throughput") == pytest.approx(
        oracle.operations_s(world.truths[case])
    )


@pytest.mark.parametrize("case", ("mixed", "scan", "clock_off", "several"))
def test_the_saturation_behind_a_target_is_the_reported_rate(world: Analysed, case: str) -> None:
    record = world.root / "records" / world.truths[case].trial
    rate = measured_ops_s(record, read_manifest(record))
    assert rate == pytest.approx(world.metric(case, "throughput"), rel=1e-9)


def test_a_loads_rate_covers_its_whole_run(world: Analysed) -> None:
    truth = world.truths["load"]
    seconds = len(truth.latencies_us["INSERT"])
    assert world.metric("load", "throughput") == pytest.approx(
        truth.returns["INSERT"]["OK"] / seconds
    )


@pytest.mark.parametrize("case", ("write", "read", "fast_random"))
def test_dfsio_has_three_rates_and_the_number_of_concurrent_maps(
    world: Analysed, case: str
) -> None:
    for name, value in oracle.dfsio_rates(world.truths[case]).items():
        assert world.metric(case, name) == pytest.approx(value, rel=1e-9), name


def test_a_write_has_a_rate_to_disk_that_is_null_where_it_was_not_timed(world: Analysed) -> None:
    truth = world.truths["in_memory"]
    map_phase_s = max(end for _, end in truth.maps) - min(begin for begin, _ in truth.maps)
    to_disk = world.metric("in_memory", "rate_to_disk")
    assert to_disk == pytest.approx(15 * 64 / (map_phase_s + 24.0), rel=1e-6)
    assert to_disk < world.metric("in_memory", "throughput_map_phase")
    assert np.isnan(world.metric("write", "rate_to_disk"))
    assert len(world.metrics("read", "rate_to_disk")) == 0
    verdict, reasons = world.verdict("in_memory")
    assert verdict == "valid" and "page cache: 25% of what was written" in reasons
    assert "page cache" not in world.verdict("write")[1]


def test_bytes_read_by_distance_are_shares_of_what_datanodes_sent(world: Analysed) -> None:
    found = {
        where: world.metric("far", f"hdfs_read_{where}") for where in ("local", "rack", "remote")
    }
    assert found == pytest.approx({"local": 70.0, "rack": 0.0, "remote": 30.0})
    assert world.metric("mixed_distance", "hdfs_read_local") == pytest.approx(25.0)
    for case, where in (("mixed_distance", "rack"), ("read", "local"), ("write", "local")):
        assert len(world.metrics(case, f"hdfs_read_{where}")) == 0


def test_a_trial_without_a_window_has_no_metric(world: Analysed) -> None:
    trial = world.truths["interrupted"].trial
    assert trial not in set(world.table("metrics")["trial"])


def test_a_test_cases_numbers_come_from_its_valid_trials(world: Analysed) -> None:
    rows = world.table("test_case_metrics")
    rows = rows[
        (rows["test_case"] == "ycsb-scan95-insert5-r12600-t8") & (rows["name"] == "throughput")
    ]
    points = dict(zip(rows["topology"], rows["points"], strict=True))
    assert {name: list(values) for name, values in points.items()} == {
        "v1-flash": [world.metric("scan", "throughput")],
        "v2-flash": [world.metric("scan_v2", "throughput")],
    }
    failing = world.truths["failing"].test_case.id
    assert failing not in set(world.table("test_case_metrics")["test_case"])
