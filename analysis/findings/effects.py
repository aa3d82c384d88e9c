"""The standard comparisons of every study (density, medium, control arm, noisy neighbour), and the study's
own hypotheses (`expect:`).

Each standard comparison is a family with one comparison per setting. Rules, fixed before any data: more
VMs per host, flash, and more RegionServers per node raise throughput and used CPU; the first two also lower
latency. A noisy neighbour lowers a victim's throughput and raises its latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product

from analysis.findings.arms import (
    Pair,
    Points,
    comparisons,
    cpu_points,
    latency_arms,
    main_operation,
    rate_points,
)
from analysis.findings.question import FALLS, RISES, Evidence, Question, Rule
from analysis.summary.summary import UNKNOWN_LEVEL, SettingSummary
from workloads.spec.hypotheses import Expectation, latency_name
from workloads.ycsb.noisy_neighbour.neighbour import NOBODY

FACTORS = ("vms_per_host", "medium", "regionservers_per_node")
MEASURES = {"rate": "throughput", "cpu": "used CPU of the hosts"}
TAIL = 99.0  # the percentile of latency effects
FASTER = {"rate": RISES, "cpu": RISES, "latency": FALLS}
BUSIER = {"rate": RISES, "cpu": RISES}
SLOWER = {"rate": FALLS, "latency": RISES}


def questions(evidence: Evidence) -> Iterator[Question]:
    """All standard comparisons, family by family."""
    for family in (density, medium, control, isolation):
        yield from family(evidence)


def density(evidence: Evidence) -> Iterator[Question]:
    """The highest density over the lowest, at equal medium and RegionServers per node."""
    for first, later in comparisons(_alone(evidence.settings)):
        arms = f"{evidence.density(later.vms_per_host)} over {evidence.density(first.vms_per_host)}"
        yield from _questions(evidence, "density", (first, later), arms, FASTER)


def medium(evidence: Evidence) -> Iterator[Question]:
    """Flash over hdd, at equal density and RegionServers per node."""
    for first, later in _pairs(evidence.settings, "medium"):
        flash, hdd = sorted((first, later), key=lambda entry: entry.medium)
        arms = f"{flash.medium} over {hdd.medium}"
        yield from _questions(evidence, "medium", (hdd, flash), arms, FASTER)


def control(evidence: Evidence) -> Iterator[Question]:
    """More RegionServers per node over fewer, at equal density and medium: the part of a density
    effect that more RegionServers alone explain (method 3)."""
    for few, many in _pairs(evidence.settings, "regionservers_per_node"):
        arms = f"{many.regionservers_per_node} over {few.regionservers_per_node} RegionServers per node"
        yield from _questions(evidence, "control", (few, many), arms, BUSIER)


def isolation(evidence: Evidence) -> Iterator[Question]:
    """A victim with a noisy neighbour over the victim alone, on the same topology. The unit is the trial."""
    # Both run on one node only, so an ordinary trial of the mix, which uses all nodes, is no baseline.
    for entry in evidence.settings:
        if entry.neighbour in (None, NOBODY):
            continue
        alone = _victim_alone(evidence.settings, entry)
        if alone is not None:
            arms = f"beside {entry.neighbour} over alone"
            yield from _questions(evidence, "isolation", (alone, entry), arms, SLOWER)


def _alone(settings: Sequence[SettingSummary]) -> tuple[SettingSummary, ...]:
    return tuple(entry for entry in settings if entry.neighbour is None)


def _victim_alone(
    settings: Sequence[SettingSummary], victim: SettingSummary
) -> SettingSummary | None:
    def same(entry: SettingSummary) -> tuple[object, ...]:
        return (entry.topology, entry.workload, entry.mode, entry.files, entry.records,
                entry.threads, entry.target_ops_s)  # fmt: skip

    return next((e for e in settings if e.neighbour == NOBODY and same(e) == same(victim)), None)


def _pairs(settings: Sequence[SettingSummary], factor: str) -> Iterator[Pair]:
    """The lowest and highest level of `factor` per setting, at equal other factors."""
    others = [name for name in FACTORS if name != factor]

    def alike(entry: SettingSummary) -> tuple[object, ...]:
        return (entry.setting, *(getattr(entry, name) for name in others))

    order = {alike(entry): place for place, entry in reversed(list(enumerate(settings)))}
    for _, group in groupby(sorted(_alone(settings), key=lambda e: order[alike(e)]), key=alike):
        known = [entry for entry in group if getattr(entry, factor) != UNKNOWN_LEVEL]
        levels = sorted(known, key=lambda entry: getattr(entry, factor))
        if len(levels) > 1:
            yield levels[0], levels[-1]  # not all pairs: each further comparison costs power


def _questions(
    evidence: Evidence, effect: str, pair: Pair, arms: str, rules: Mapping[str, Rule]
) -> Iterator[Question]:
    """One for each measure in `rules` that the setting has."""
    first, later = pair
    about = evidence.about_vms if effect in ("density", "isolation") else evidence.about_media
    for what, rule in rules.items():
        measured = _measured(what, first, later)
        if measured is None:
            continue
        measure, first_points, later_points = measured
        yield Question(
            id=f"{effect}-{what}-{later.setting}-{first.topology}-{later.topology}",
            family=f"{effect}-{what}",
            subject=first.label,
            measure=measure,
            arms=arms,
            among=", ".join(_among(effect, first, evidence)) or None,
            rule=rule,
            first=first_points,
            later=later_points,
            # a neighbour is a property of the trial, all other factors are of the build (method 1)
            unit="trial" if effect == "isolation" else "build",
            obstacles=about(first, later),
            refused=evidence.differences(first, later),
        )


def _measured(
    what: str, first: SettingSummary, later: SettingSummary
) -> tuple[str, Points, Points] | None:
    """The measure in words, and both arms' points. A target rate is not a result."""
    if what == "rate":
        if first.target_ops_s is not None:
            return None
        return MEASURES[what], rate_points(first), rate_points(later)
    if what == "cpu":
        return MEASURES[what], cpu_points(first), cpu_points(later)
    operation = main_operation(first) or ""
    found = latency_arms(first, later, operation, TAIL)
    return (f"{found[0]} {operation} p{TAIL:g}", *found[1:]) if found else None


def _among(effect: str, arm: SettingSummary, evidence: Evidence) -> Iterator[str]:
    """What both arms have in common, if the run has several values of it."""
    if effect != "medium":
        yield arm.medium
    if effect != "density" and len({e.vms_per_host for e in evidence.settings}) > 1:
        yield evidence.density(arm.vms_per_host)
    if effect != "control" and arm.regionservers_per_node > 1:
        yield f"{arm.regionservers_per_node} RegionServers per node"


def expected(evidence: Evidence, expect: Sequence[Expectation]) -> Iterator[Question]:
    """The study's hypotheses, in its order: each is a family with one comparison per matching setting. A
    hypothesis without arms is kept, and its finding says so."""
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
        pairs = _expected_pairs(evidence.settings, one)
        found = [_expected(evidence, one, without_arms, pair) for pair in pairs]
        yield from found or [without_arms]


def _expected_pairs(settings: Sequence[SettingSummary], one: Expectation) -> Iterator[Pair]:
    """The workload's settings that differ in the compared factor alone."""
    fitting = [e for e in settings if e.mode == one.workload and e.neighbour is None]
    others = ("setting", *(name for name in FACTORS if name != one.compare))
    for first, later in product(fitting, fitting):
        levels = str(getattr(first, one.compare)), str(getattr(later, one.compare))
        alike = all(getattr(first, name) == getattr(later, name) for name in others)
        if levels == (one.first, one.later) and alike:
            yield first, later


def _expected(evidence: Evidence, one: Expectation, without_arms: Question, pair: Pair) -> Question:
    first, later = pair
    shared = [name for name in FACTORS if name != one.compare]
    about = evidence.about_vms if one.compare == "vms_per_host" else evidence.about_media
    measure, first_points, later_points = _expected_points(first, later, one.metric)
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


def _expected_points(
    first: SettingSummary, later: SettingSummary, metric: str
) -> tuple[str, Points, Points]:
    """The measure, and both arms' points; no points if they lack the metric."""
    if metric == "throughput":
        return metric, rate_points(first), rate_points(later)
    if metric == "cpu_used":
        return metric, cpu_points(first), cpu_points(later)
    found = latency_arms(first, later, *latency_name(metric))
    return (f"{found[0]} {metric}", *found[1:]) if found else (metric, (), ())
