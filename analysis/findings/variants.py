"""The variants of a comparison: the points of a test case, one per build, for each measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from density_study.analysis.statistics.interval import ratio_of_means
from density_study.analysis.summary.summary import UNKNOWN_DISK_TYPE, Metric, TestCaseSummary
from density_study.workloads.study.metrics import main_rates
from density_study.workloads.ycsb.noisy_neighbour.neighbour import NOBODY

Points = tuple[float, ...]
Pair = tuple[TestCaseSummary, TestCaseSummary]
TAIL = 99.0
"""The percentile of latencies that are compared."""


def cells(*entries: TestCaseSummary) -> tuple[tuple[str, str], ...]:
    """(test case, topology) of each."""
    return tuple((entry.test_case, entry.topology) for entry in entries)


def ratio(first: Points, later: Points) -> float | None:
    """Later over first, geometric means; None if a variant has no points, or one that is not positive."""
    if not first or not later or min(*first, *later) <= 0:
        return None
    return ratio_of_means(first, later)


def placed(test_cases: Sequence[TestCaseSummary]) -> tuple[TestCaseSummary, ...]:
    """Test cases whose density and disk type are known. Records that others made have them only from the
    map."""
    return tuple(
        entry
        for entry in test_cases
        if entry.vms_per_host is not None and entry.disk_type != UNKNOWN_DISK_TYPE
    )


def comparable(test_cases: Sequence[TestCaseSummary]) -> tuple[TestCaseSummary, ...]:
    """`placed`, and test cases of existing clusters that a study compares by name."""
    known = placed(test_cases)
    return tuple(entry for entry in test_cases if entry in known or "cluster" in entry.levels)


def rate(entry: TestCaseSummary) -> float | None:
    """The test case's main rate: operations per second, or MiB/s over the map phase."""
    return next((metric.value for metric in entry.metrics if metric.name in main_rates()), None)


def rate_points(entry: TestCaseSummary) -> Points:
    return next((points_of(metric) for metric in entry.metrics if metric.name in main_rates()), ())


def recovery_points(entry: TestCaseSummary) -> Points:
    """Seconds to recover of each build that did; `effects.never_recovered` counts the others."""
    found = (points_of(metric) for metric in entry.metrics if metric.name == "time_to_recover")
    return next(found, ())


def cpu_points(entry: TestCaseSummary, name: str = "cpu_used") -> Points:
    """Each build's mean over the hosts, percent; empty if one of several hosts lacks a value: two that lack
    one each may lack it in different builds."""
    hosts = [points_of(metric) for metric in entry.metrics if _is_host(metric, name)]
    if not hosts or (len(hosts) > 1 and {*map(len, hosts)} != {entry.n_builds}):
        return ()
    # arithmetic: busy cores add up, and each host counts once
    return tuple(mean(build) for build in zip(*hosts, strict=True))


def latency(entry: TestCaseSummary, operation: str, percentile: float) -> Metric | None:
    """The metric of this operation and percentile; intended latency if there is any."""
    found = [
        metric
        for metric in entry.metrics
        if metric.name == "latency"
        and metric.operation == operation
        and metric.percentile == percentile
        and metric.value is not None
    ]
    return min(found, key=lambda metric: metric.latency_kind != "intended", default=None)


def latency_variants(
    first: TestCaseSummary, later: TestCaseSummary, operation: str, percentile: float
) -> tuple[str, Points, Points] | None:
    """(kind, first's points, later's points), ms. None unless both have it, and of the same kind:
    closed-loop and intended latency are different quantities (method 10)."""
    a, b = (latency(variant, operation, percentile) for variant in (first, later))
    if a is None or b is None or a.latency_kind != b.latency_kind:
        return None
    return a.latency_kind or "", points_of(a), points_of(b)


def victims(test_cases: Sequence[TestCaseSummary]) -> Iterator[Pair]:
    """(without, beside) of each test case with a noisy neighbour, on the same topology."""

    # Both run on one node only, so an ordinary trial of the mix, which uses all nodes, is no baseline.
    def same(entry: TestCaseSummary) -> tuple[object, ...]:
        return (entry.topology, entry.workload, entry.mode, entry.count("files"), entry.count("records"),
                entry.count("threads"), entry.target_ops_s)  # fmt: skip

    alone = {same(entry): entry for entry in reversed(test_cases) if entry.neighbour == NOBODY}
    for entry in test_cases:
        if entry.neighbour not in (None, NOBODY) and same(entry) in alone:
            yield alone[same(entry)], entry


def main_operation(entry: TestCaseSummary) -> str | None:
    """The test case's main operation: scans, or else reads, updates or inserts."""
    seen = {metric.operation for metric in entry.metrics if metric.name == "latency"}
    return next((one for one in ("SCAN", "READ", "UPDATE", "INSERT") if one in seen), None)


def points_of(metric: Metric) -> Points:
    """One point per unit, in repetition order; the value itself if the metric has no points."""
    if metric.points or metric.value is None:
        return metric.points
    return (metric.value,)


def _is_host(metric: Metric, name: str) -> bool:
    return metric.name == name and (metric.scope or "").startswith("host:")
