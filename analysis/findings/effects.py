"""The standard comparisons of every study (one family per factor, density over its control variant, and the
noisy neighbour), and the study's own hypotheses (`expect:`).

Each standard comparison is a family with one comparison per test case. Rules, fixed before any data: more
VMs per host, flash, and more RegionServers per node raise throughput and used CPU; the first two also lower
latency. A later store, stack or configuration raises throughput, and lowers latency and used CPU. A noisy
neighbour lowers a victim's throughput and raises its latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

from density_study.analysis.findings.control import (
    DENSITY,
    control_of,
    controlled,
    more_daemons,
    more_servers,
)
from density_study.analysis.findings.factors import levels, obstacles_of, others, pairs, rules_of
from density_study.analysis.findings.question import (
    EXPECTED,
    FALLS,
    RISES,
    Evidence,
    FindingKind,
    Question,
    Rule,
)
from density_study.analysis.findings.variants import (
    TAIL,
    Pair,
    Points,
    cells,
    cpu_points,
    latency_variants,
    main_operation,
    rate_points,
    recovery_points,
    victims,
)
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.plugins import values_of
from density_study.workloads.study.factors.factor import Factor
from density_study.workloads.study.factors.registry import factors, held_equal
from density_study.workloads.study.hypotheses import Expectation, latency_name

ITS_CONTROL = "the comparison with the control variant, which has as many, decides"
MEASURES = {
    "rate": "throughput",
    "cpu": "used CPU of the hosts",
    "recovery": "time to recover from a fault",
}
SLOWER = {"rate": FALLS, "latency": RISES}


def questions(evidence: Evidence) -> Iterator[Question]:
    """All standard comparisons, family by family."""
    for factor in factors().values():
        yield from by_factor(evidence, factor)
    yield from by_control(evidence)
    yield from isolation(evidence)
    for _, kind in values_of("finding", FindingKind):
        yield from kind.questions(evidence)


def by_factor(evidence: Evidence, factor: Factor[Any]) -> Iterator[Question]:
    """The levels of one factor, at equal levels of all others."""
    alone = [entry for entry in evidence.test_cases if entry.neighbour is None]
    for pair in pairs(alone, factor):
        first, later = (factor.words(entry.level(factor.name), evidence.noun) for entry in pair)
        among = _among(evidence, pair[0], held_equal(factor.name))
        obstacles = obstacles_of(factor, evidence, pair)
        variants, rules = f"{later} over {first}", rules_of(factor)
        for one in of_pair(evidence, factor.family, pair, variants, rules):
            # every factor is a property of the build (method 1)
            both = (*obstacles, *one.obstacles)
            yield _attributed(
                evidence, factor, pair, replace(one, among=among, unit="build", obstacles=both)
            )


def _attributed(
    evidence: Evidence, factor: Factor[Any], pair: Pair, question: Question
) -> Question:
    """What a density has more of than nodes is an obstacle if a control variant tells both apart, and else is
    declared."""
    if factor.name != DENSITY:
        return question
    servers, declared = more_servers(*pair), more_daemons(*pair)
    if servers and control_of(evidence, pair) is not None:
        obstacles = (*question.obstacles, f"{servers[0]}; {ITS_CONTROL}")
        return replace(
            question, obstacles=obstacles, declared=(*question.declared, *declared[len(servers) :])
        )
    return replace(question, declared=(*question.declared, *declared))


def by_control(evidence: Evidence) -> Iterator[Question]:
    """Yield comparisons of each density with its control variant, which has as many RegionServers on fewer
    nodes. A gain over it comes from the nodes, not from the number of RegionServers."""
    density = factors()[DENSITY]
    for control, later in controlled(evidence):
        where = evidence.density(control.density)
        servers = f"{control.regionservers_per_node} RegionServers"
        on = f"{servers} on {where}" if control.density == 0 else f"{where} with {servers} each"
        variants = f"{evidence.density(later.density)} over {on}"
        pair = control, later
        obstacles = obstacles_of(density, evidence, pair)
        for one in of_pair(evidence, "density-control", pair, variants, rules_of(density)):
            both = (*obstacles, *one.obstacles)
            declared = (*one.declared, *more_daemons(*pair))
            yield replace(
                one, among=control.disk_type, unit="build", obstacles=both, declared=declared
            )


def isolation(evidence: Evidence) -> Iterator[Question]:
    """A victim with a noisy neighbour over the victim without, on the same topology. The unit is the
    trial."""
    for alone, beside in victims(evidence.test_cases):
        variants = f"beside {beside.neighbour} over alone"
        # a neighbour is a property of the trial
        among, obstacles = (
            _among(evidence, alone, tuple(factors())),
            evidence.about_density(alone, beside),
        )
        for one in of_pair(evidence, "isolation", (alone, beside), variants, SLOWER):
            yield replace(one, among=among, unit="trial", obstacles=obstacles)


def of_pair(
    evidence: Evidence, effect: str, pair: Pair, variants: str, rules: Mapping[str, Rule]
) -> Iterator[Question]:
    """Yield a question for each measure in `rules` that both test cases of the pair have: the later variant
    over the first."""
    first, later = pair
    for what, rule in rules.items():
        measured = _measured(what, first, later)
        if measured is None:
            continue
        measure, first_points, later_points = measured
        yield Question(
            id=f"{effect}-{what}-{later.test_case}-{first.topology}-{later.topology}",
            family=f"{effect}-{what}",
            subject=first.label,
            measure=measure,
            variants=variants,
            rule=rule,
            first=first_points,
            later=later_points,
            obstacles=evidence.about_searches(first, later) if what == "rate" else (),
            refused=evidence.differences(first, later),
            withheld=never_recovered(first, later) if what == "recovery" else (),
            declared=evidence.declared(first, later),
            cells=cells(first, later),
        )


def never_recovered(first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
    """Why the times of those builds that recovered are no comparison of the variants: the variant in which
    more builds never did looks faster by them. Empty if it looks slower nevertheless, which the missing times
    would only strengthen."""
    variants = [(recovery_points(variant), variant.n_builds) for variant in (first, later)]
    missing = [builds - len(points) for points, builds in variants]
    if not any(missing):
        return ()
    shares = [
        lost / builds if builds else 0.0
        for lost, (_, builds) in zip(missing, variants, strict=True)
    ]
    means = [sum(points) / len(points) if points else inf for points, _ in variants]
    worse = shares.index(max(shares))
    if shares[0] != shares[1] and means[worse] > means[1 - worse]:
        return ()
    counts = " and ".join(f"{lost} of {n}" for lost, (_, n) in zip(missing, variants, strict=True))
    return (f"builds that never recovered: {counts}",)


def _measured(
    what: str, first: TestCaseSummary, later: TestCaseSummary
) -> tuple[str, Points, Points] | None:
    """The measure in words, and both variants' points. A target rate is not a result."""
    if what == "rate":
        if first.target_ops_s is not None:
            return None
        return MEASURES[what], rate_points(first), rate_points(later)
    if what == "cpu":
        return MEASURES[what], cpu_points(first), cpu_points(later)
    if what == "recovery":
        if first.fault is None:
            return None
        return MEASURES[what], recovery_points(first), recovery_points(later)
    if first.sought is not None:  # its latency is near the limit of the search
        return None
    operation = main_operation(first) or ""
    found = latency_variants(first, later, operation, TAIL)
    return (f"{found[0]} {operation} p{TAIL:g}", *found[1:]) if found else None


def _among(evidence: Evidence, variant: TestCaseSummary, equal: Sequence[str]) -> str | None:
    """What both variants have in common: the disk type, and each factor in `equal` of which the run has
    several levels."""
    shared = [
        factor.words(variant.level(factor.name), evidence.noun)
        for factor in factors().values()
        if factor.name in equal
        and (factor.name == "disk_type" or len(levels(evidence.test_cases, factor.name)) > 1)
    ]
    return ", ".join(shared) or None


def expected(evidence: Evidence, expect: Sequence[Expectation]) -> Iterator[Question]:
    """The study's hypotheses, in its order: each is a family with one comparison per matching test case. A
    hypothesis without variants is kept, and its finding says so."""
    for one in expect:
        factor = factors()[one.compare]
        later, first = (factor.words(level, evidence.noun) for level in (one.later, one.first))
        without_variants = Question(
            id=f"{EXPECTED}{one.name}",
            family=f"{EXPECTED}{one.name}",
            subject=one.workload,
            measure=one.metric,
            variants=f"{later} over {first}",
            rule=Rule(one.low, one.high, one.effect),
            first=(),
            later=(),
        )
        pairs = _expected_pairs(evidence.test_cases, one)
        found = [_expected(evidence, one, without_variants, pair) for pair in pairs]
        yield from found or [without_variants]


def _expected_pairs(test_cases: Sequence[TestCaseSummary], one: Expectation) -> Iterator[Pair]:
    """The workload's test cases that differ only in the compared factor."""
    fitting = [e for e in test_cases if e.mode == one.workload and e.neighbour is None]
    for first, later in product(fitting, fitting):
        compared = str(first.level(one.compare)), str(later.level(one.compare))
        alike = others(first, one.compare) == others(later, one.compare)
        if compared == (one.first, one.later) and alike and first.test_case == later.test_case:
            yield first, later


def _expected(
    evidence: Evidence, one: Expectation, without_variants: Question, pair: Pair
) -> Question:
    first, later = pair
    measure, first_points, later_points = _expected_points(first, later, one.metric)
    searches = evidence.about_searches(first, later) if one.metric == "throughput" else ()
    factor = factors()[one.compare]
    question = replace(
        without_variants,
        id=f"{EXPECTED}{one.name}-{first.test_case}-{first.topology}-{later.topology}",
        subject=first.label,
        measure=measure,
        among=_among(evidence, first, held_equal(one.compare)),
        first=first_points,
        later=later_points,
        obstacles=(*obstacles_of(factor, evidence, pair), *searches),
        refused=evidence.differences(first, later),
        declared=evidence.declared(first, later),
        cells=cells(first, later),
    )
    return _attributed(evidence, factor, pair, question)


def _expected_points(
    first: TestCaseSummary, later: TestCaseSummary, metric: str
) -> tuple[str, Points, Points]:
    """The measure, and both variants' points; no points if they lack the metric."""
    if metric == "throughput":
        return metric, rate_points(first), rate_points(later)
    if metric == "cpu_used":
        return metric, cpu_points(first), cpu_points(later)
    found = latency_variants(first, later, *latency_name(metric))
    return (f"{found[0]} {metric}", *found[1:]) if found else (metric, (), ())
