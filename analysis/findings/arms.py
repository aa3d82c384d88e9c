"""The arms of a comparison: the points of a setting, one per build, for each measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from density_study.analysis.statistics.interval import ratio_of_means
from density_study.analysis.summary.summary import (
    UNKNOWN_LEVEL,
    UNKNOWN_MEDIUM,
    Metric,
    SettingSummary,
)
from density_study.workloads.study.metrics import main_rates
from density_study.workloads.ycsb.noisy_neighbour.neighbour import NOBODY

Points = tuple[float, ...]
Pair = tuple[SettingSummary, SettingSummary]


def cells(*entries: SettingSummary) -> tuple[tuple[str, str], ...]:
    """(setting, topology) of each."""
    return tuple((entry.setting, entry.topology) for entry in entries)


def ratio(first: Points, later: Points) -> float | None:
    """Later over first, geometric means; None if an arm has no points, or one that is not positive."""
    if not first or not later or min(*first, *later) <= 0:
        return None
    return ratio_of_means(first, later)


def placed(settings: Sequence[SettingSummary]) -> tuple[SettingSummary, ...]:
    """Settings whose density and medium are known. Records that others made have them only from the map."""
    return tuple(
        entry
        for entry in settings
        if entry.vms_per_host != UNKNOWN_LEVEL and entry.medium != UNKNOWN_MEDIUM
    )


def comparable(settings: Sequence[SettingSummary]) -> tuple[SettingSummary, ...]:
    """`placed`, and settings of given clusters that a study compares by name."""
    known = placed(settings)
    return tuple(entry for entry in settings if entry in known or "cluster" in entry.levels)


def rate(entry: SettingSummary) -> float | None:
    """The setting's main rate: operations per second, or MiB/s over the map phase."""
    return next((metric.value for metric in entry.metrics if metric.name in main_rates()), None)


def rate_points(entry: SettingSummary) -> Points:
    return next((points_of(metric) for metric in entry.metrics if metric.name in main_rates()), ())


def recovery_points(entry: SettingSummary) -> Points:
    """Seconds to recover of each build that did; `effects.never_recovered` counts the others."""
    found = (points_of(metric) for metric in entry.metrics if metric.name == "time_to_recover")
    return next(found, ())


def cpu_points(entry: SettingSummary, name: str = "cpu_used") -> Points:
    """Each build's mean over the hosts, percent; empty if a host lacks a value."""
    hosts = [points_of(metric) for metric in entry.metrics if _is_host(metric, name)]
    if not hosts or len({len(points) for points in hosts}) > 1:
        return ()
    # arithmetic: busy cores add up, and each host counts once
    return tuple(mean(build) for build in zip(*hosts, strict=True))


def latency(entry: SettingSummary, operation: str, percentile: float) -> Metric | None:
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


def latency_arms(
    first: SettingSummary, later: SettingSummary, operation: str, percentile: float
) -> tuple[str, Points, Points] | None:
    """(kind, first's points, later's points), ms. None unless both have it, and of the same kind:
    closed-loop and intended latency are different quantities (method 10)."""
    a, b = (latency(arm, operation, percentile) for arm in (first, later))
    if a is None or b is None or a.latency_kind != b.latency_kind:
        return None
    return a.latency_kind or "", points_of(a), points_of(b)


def victims(settings: Sequence[SettingSummary]) -> Iterator[Pair]:
    """(alone, beside) of each setting with a noisy neighbour, on the same topology."""

    # Both run on one node only, so an ordinary trial of the mix, which uses all nodes, is no baseline.
    def same(entry: SettingSummary) -> tuple[object, ...]:
        return (entry.topology, entry.workload, entry.mode, entry.files, entry.records,
                entry.threads, entry.target_ops_s)  # fmt: skip

    alone = {same(entry): entry for entry in reversed(settings) if entry.neighbour == NOBODY}
    for entry in settings:
        if entry.neighbour not in (None, NOBODY) and same(entry) in alone:
            yield alone[same(entry)], entry


def main_operation(entry: SettingSummary) -> str | None:
    """The setting's main operation: scans, or else reads, updates or inserts."""
    seen = {metric.operation for metric in entry.metrics if metric.name == "latency"}
    return next((one for one in ("SCAN", "READ", "UPDATE", "INSERT") if one in seen), None)


def points_of(metric: Metric) -> Points:
    """One point per unit, in repetition order; the value itself if the metric has no points."""
    if metric.points or metric.value is None:
        return metric.points
    return (metric.value,)


def _is_host(metric: Metric, name: str) -> bool:
    return metric.name == name and (metric.scope or "").startswith("host:")
