"""The study's own hypotheses (`expect:`): each is a family with one comparison per matching setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from analysis.findings.arms import Pair, Points, cpu_points, latency_arms, rate_points
from analysis.findings.question import Evidence, Question, Rule
from analysis.summary.summary import SettingSummary
from workloads.spec.hypotheses import Expectation, latency_name

FACTORS = ("vms_per_host", "medium", "regionservers_per_node")


def questions(evidence: Evidence, expect: Sequence[Expectation]) -> Iterator[Question]:
    """In the study's order. A hypothesis without arms is kept, and its finding says so."""
    for one in expect:
        without_arms = Question(
            id=f"expect-{one.name}",
            family=f"expect-{one.name}",
            subject=one.workload,
            measure=one.metric,
            arms=f"{one.compare} {one.later} over {one.first}",
            rule=Rule(one.low, one.high),
            first=(),
            later=(),
        )
        pairs = _pairs(evidence.settings, one)
        found = [_question(evidence, one, without_arms, pair) for pair in pairs]
        yield from found or [without_arms]


def _pairs(settings: Sequence[SettingSummary], one: Expectation) -> Iterator[Pair]:
    """The workload's settings that differ in the compared factor alone."""
    fitting = [e for e in settings if e.mode == one.workload and e.neighbour is None]
    others = ("setting", *(name for name in FACTORS if name != one.compare))
    for first, later in product(fitting, fitting):
        levels = str(getattr(first, one.compare)), str(getattr(later, one.compare))
        alike = all(getattr(first, name) == getattr(later, name) for name in others)
        if levels == (one.first, one.later) and alike:
            yield first, later


def _question(evidence: Evidence, one: Expectation, without_arms: Question, pair: Pair) -> Question:
    first, later = pair
    shared = [name for name in FACTORS if name != one.compare]
    about = evidence.about_vms if one.compare == "vms_per_host" else evidence.about_media
    measure, first_points, later_points = _points(first, later, one.metric)
    return replace(
        without_arms,
        id=f"expect-{one.name}-{first.setting}-{first.topology}-{later.topology}",
        subject=first.label,
        measure=measure,
        among=", ".join(f"{name} {getattr(first, name)}" for name in shared),
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
