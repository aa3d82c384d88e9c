"""The study's own hypotheses (`expect:`): each is a family with one comparison per matching setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.findings.arms import Points, cpu_points, latency_arms, rate_points
from analysis.findings.question import Evidence, Question, Rule
from analysis.summary.summary import SettingSummary
from workloads.spec.hypotheses import Expectation, latency_name

FACTORS = ("vms_per_host", "medium", "regionservers_per_node")


def questions(evidence: Evidence, expect: Sequence[Expectation]) -> Iterator[Question]:
    """In the study's order. A hypothesis without arms is kept, and its finding says so."""
    for one in expect:
        found = list(_questions(evidence, one))
        yield from found or [_without_arms(one)]


def _questions(evidence: Evidence, one: Expectation) -> Iterator[Question]:
    fitting = [
        entry
        for entry in evidence.settings
        if entry.mode == one.workload and entry.neighbour is None
    ]
    for first in fitting:
        if str(getattr(first, one.compare)) != one.first:
            continue
        for later in fitting:
            if str(getattr(later, one.compare)) == one.later and _alike(first, later, one.compare):
                yield _question(evidence, one, first, later)


def _alike(first: SettingSummary, later: SettingSummary, compare: str) -> bool:
    others = ("setting", *(name for name in FACTORS if name != compare))
    return all(getattr(first, name) == getattr(later, name) for name in others)


def _question(
    evidence: Evidence, one: Expectation, first: SettingSummary, later: SettingSummary
) -> Question:
    shared = [name for name in FACTORS if name != one.compare]
    about = evidence.about_vms if one.compare == "vms_per_host" else evidence.about_media
    measure, first_points, later_points = _points(first, later, one.metric)
    return Question(
        id=f"expect-{one.name}-{first.setting}-{first.topology}-{later.topology}",
        family=f"expect-{one.name}",
        subject=first.label,
        measure=measure,
        arms=f"{one.compare} {one.later} over {one.first}",
        among=", ".join(f"{name} {getattr(first, name)}" for name in shared),
        rule=Rule(one.low, one.high),
        first=first_points,
        later=later_points,
        obstacles=about(first, later),
        refused=evidence.differences(first, later),
    )


def _points(
    first: SettingSummary, later: SettingSummary, metric: str
) -> tuple[str, Points, Points]:
    """The measure, and both arms' points; no points if they lack the metric."""
    if metric == "throughput":
        return metric, rate_points(first), rate_points(later)
    if metric == "cpu_used":
        return metric, cpu_points(first), cpu_points(later)
    found = latency_arms(first, later, *latency_name(metric))
    return (f"{found[0]} {metric}", *found[1:]) if found else (metric, (), ())


def _without_arms(one: Expectation) -> Question:
    return Question(
        id=f"expect-{one.name}",
        family=f"expect-{one.name}",
        subject=one.workload,
        measure=one.metric,
        arms=f"{one.compare} {one.later} over {one.first}",
        rule=Rule(one.low, one.high),
        first=(),
        later=(),
    )
