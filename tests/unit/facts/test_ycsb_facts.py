"""Facts of YCSB trials at their edges: what is unknown, and what a fault did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from density_study.workloads.ycsb.facts.latency import enough, latency_metrics, nearest_ranks
from density_study.workloads.ycsb.facts.recovery import recovery_metrics
from density_study.workloads.ycsb.facts.summary import whole_runs, work_checks
from tests.unit.facts.made_rows import made_rows

GO_S = 1_700_000_000.0
RUN = {"duration_s": 60.0, "window_start_epoch_s": GO_S, "window_end_epoch_s": GO_S + 60.0}


def summary(operations: int, run_s: float) -> list[dict[str, Any]]:
    lines = (("OVERALL", "RunTime", 1000 * run_s), ("OVERALL", "Throughput", operations / run_s),
             ("READ", "Return=OK", operations))  # fmt: skip
    return [{"client": "ycsb-1", "operation": o, "measure": m, "value": v} for o, m, v in lines]


def test_a_client_that_reported_nothing_leaves_its_work_unknown() -> None:
    """Spark's `least` skips nulls: once, all of the work of such a client counted as done."""
    clients = [{"client": "ycsb-1", "operations_asked": 6000}]
    for printed, share in ((summary(3000, 30.0), 0.5), ([], None)):
        rows = made_rows(RUN, {"clients": clients, "ycsb_summary": printed})
        found = work_checks(rows, whole_runs(rows))
        assert (found["work_share"], found["rate_error"]) == (share, 0.0 if share else None)


def test_a_client_does_not_stand_still_while_its_collector_works_beside_it() -> None:
    """YCSB adds up what ZGC and Shenandoah do in pauses and between them."""
    printed = summary(3000, 30.0) + [
        {"client": "ycsb-1", "operation": f"TOTAL_GC_TIME{name}", "measure": "Time", "value": value}
        for name, value in (("_ZGC_Minor_Cycles", 4000), ("_ZGC_Major_Cycles", 2000),
                            ("_ZGC_Minor_Pauses", 30), ("", 6030), ("_%_ZGC_Minor_Cycles", 13.3))
    ]  # fmt: skip
    clients = [{"client": "ycsb-1", "operations_asked": 3000}]
    rows = made_rows(RUN, {"clients": clients, "ycsb_summary": printed})
    assert work_checks(rows, whole_runs(rows))["client_gc_share"] == pytest.approx(0.001)


def test_a_client_in_turns_is_measured_by_its_own_time() -> None:
    """It rested for 61 of 106 s: of 60 s it worked 45."""
    printed = summary(3000, 106.0)
    printed.append(
        {"client": "ycsb-1", "operation": "TOTAL_GC_TIME", "measure": "Time", "value": 4500}
    )
    clients = [{"client": "ycsb-1", "operations_asked": 2**31}]
    rows = made_rows({**RUN, "rested_s": 61.0}, {"clients": clients, "ycsb_summary": printed})
    found = work_checks(rows, whole_runs(rows))
    assert (found["work_share"], found["client_gc_share"]) == (0.75, pytest.approx(0.1))


def test_the_worst_latency_of_a_fault_comes_after_it() -> None:
    """A pause in the ramp-up is none of its doing."""
    histograms = [
        {"client": "ycsb-1", "operation": "READ", "kind": "intended", "begun_s": GO_S + second,
         "length_s": 1.0, "value_us": [2000, worst_us], "counts": [9, 1]}
        for second, worst_us in ((0, 50_000), (29, 9_000), (30, 8_000), (31, 70_000))
    ]  # fmt: skip
    histograms[-1]["outcome"] = "FAILED"
    rows = made_rows({**RUN, "fault_s": 29.5}, {"ycsb_histograms": histograms})
    (worst,) = (one for one in recovery_metrics(rows, {}) if one["name"] == "worst_latency")
    assert worst["value"] == pytest.approx(9.0)


def test_ten_operations_beyond_a_percentile_are_enough() -> None:
    """Also where a hundredth of the percentile is no exact number of the machine."""
    assert enough(10_000, 99.9) and not enough(9_999, 99.9)
    values, counts = np.arange(1, 10_001), np.ones(10_000, np.int64)
    assert dict(nearest_ranks(values, counts, (0, 50.0, 99.9, 99.95))) == {
        0.0: 1, 50.0: 5000, 99.9: 9990, 99.95: None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("p95_us", "p99_us", "found"),
    [(1843, 2113, [1.843, 2.113]), (2000, 2113, [2.0, 2.113]), (2000, 4000, []), (0, 0, [])],
)
def test_buckets_of_a_millisecond_are_no_percentiles(
    p95_us: float, p99_us: float, found: list[float]
) -> None:
    """measurementtype=histogram rounds them down to whole ms, and prints no buckets by default."""
    names = {"Operations": 10_000, "95thPercentileLatency": p95_us, "99thPercentileLatency": p99_us}
    printed = [
        {"client": "ycsb-1", "operation": "READ", "name": "READ", "outcome": None, "intended": False,
         "measure": measure, "unit": "count" if measure == "Operations" else "us", "value": value}
        for measure, value in names.items()
    ]  # fmt: skip
    rows = made_rows({"imported": True, "clients": 1, "warm_up_s": 0.0}, {"ycsb_summary": printed})
    assert [metric["value"] for metric in latency_metrics(rows)] == found
