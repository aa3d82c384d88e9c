"""The best density under the SLO: the highest rate among densities that meet the latency limits.

Rule, fixed before the data: a density meets the SLO if the whole interval of each limited latency is at or
below its limit, and violates it if the whole interval is above. A density is best if it meets the SLO and
its rate is above that of every other density that does not violate it. There is one finding per mix and
disk type (and version, and configuration). A density's rate is its highest over threads and targets that meet
the SLO. With fewer than 5 builds per density: the highest point, and no claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby
from statistics import median
from typing import Any, Literal

from density_study.analysis.findings.control import more_daemons
from density_study.analysis.findings.decide import MEASURED
from density_study.analysis.findings.factors import baseline
from density_study.analysis.findings.question import RISES, Evidence, IntervalOf, Question, stand_in
from density_study.analysis.findings.variants import cells, latency, points_of, rate_points
from density_study.analysis.statistics.power import MIN_UNITS
from density_study.analysis.summary.summary import Finding, FindingVerdict, TestCaseSummary
from density_study.cluster.model.plain import capitalised
from density_study.workloads.study.hypotheses import latency_name

FAMILY = "best-density"
Compliance = Literal["met", "violated", "unsure", "none"]
# what the finding shows of its least certain comparison
_OF_WORST = (
    "effect",
    "low",
    "high",
    "test",
    "p",
    "p_adjusted",
    "detectable",
    "hindrance",
    "excluded",
)


@dataclass(frozen=True)
class _Variant:
    """A density's fastest test case that meets the SLO, or may meet it."""

    entry: TestCaseSummary
    slo: Compliance


@dataclass(frozen=True)
class Candidate:
    """A mix and disk type with its densities. `best`: the fastest that does not violate the SLO, if any.
    `pairs`: it against every other such density. `main`: a question of the study asks for it."""

    densities: tuple[_Variant, ...]
    limits: str
    best: _Variant | None
    words: str
    pairs: tuple[Question, ...]
    forbidden: tuple[str, ...]
    main: bool = True


def candidates(evidence: Evidence, slo: Mapping[str, float]) -> Iterator[Candidate]:
    """Yield what can be judged: each mix on each disk type that was measured at two or more densities.
    Nothing if no limit of the SLO applies."""
    entries = [
        e
        for e in evidence.test_cases
        if not (e.neighbour or e.fault or e.phase) and _limited(e, slo)
    ]
    for _, group in groupby(sorted(entries, key=_group), key=_group):
        densities = _variants(list(group), slo, evidence.interval)
        if len(densities) > 1:
            yield _candidate(evidence, densities, slo)


def _candidate(
    evidence: Evidence, densities: Sequence[_Variant], slo: Mapping[str, float]
) -> Candidate:
    able = [
        variant for variant in densities if variant.slo != "violated" and rate_points(variant.entry)
    ]
    best = max(able, key=lambda variant: _middle(variant.entry), default=None)
    return Candidate(
        densities=tuple(densities),
        limits=", ".join(f"{name} at most {limit:g} ms" for name, limit in slo.items()),
        best=best,
        words=evidence.density(best.entry.density) if best else "",
        pairs=tuple(
            _question(evidence, best, other) for other in able if best and other is not best
        ),
        forbidden=evidence.about_density(best.entry) if best else (),
    )


def _group(entry: TestCaseSummary) -> tuple[str, int, tuple[str, ...]]:
    return entry.mode or "", entry.count("records") or 0, held_equal(entry)


def held_equal(entry: TestCaseSummary) -> tuple[str, ...]:
    """Densities compete at equal levels of these factors."""
    named = (level for factor, level in entry.levels.items() if factor != "cluster")
    return entry.disk_type, *named


def _limited(entry: TestCaseSummary, slo: Mapping[str, float]) -> bool:
    seen = {metric.operation for metric in entry.metrics if metric.name == "latency"}
    return any(latency_name(name)[0] in seen for name in slo)


def _variants(
    entries: Sequence[TestCaseSummary], slo: Mapping[str, float], interval: IntervalOf
) -> list[_Variant]:
    """One per density, ascending, with the fewest RegionServers per node in the run."""
    # the control variant would compete with the density that it explains
    plain = sorted(
        baseline(entries, entries, "regionservers_per_node"), key=lambda entry: entry.density
    )
    return [
        max(
            (_Variant(entry, _compliance(entry, slo, interval)) for entry in same),
            key=lambda variant: (variant.slo != "violated", _middle(variant.entry)),
        )
        for _, same in groupby(plain, key=lambda entry: entry.density)
    ]


def _middle(entry: TestCaseSummary) -> float:
    return median(rate_points(entry) or (0.0,))  # one slow build must not change which is the best


def _compliance(
    entry: TestCaseSummary, slo: Mapping[str, float], interval: IntervalOf
) -> Compliance:
    """unsure: an interval contains its limit, or a latency that the test case has is not known. With few
    builds, the range of the points replaces it."""
    operations = {metric.operation for metric in entry.metrics if metric.name == "latency"}
    judged: set[Compliance] = set()
    for name, limit_ms in slo.items():
        operation, percentile = latency_name(name)
        metric = latency(entry, operation, percentile)
        points = points_of(metric) if metric else ()
        if not points:
            judged.add("unsure" if operation in operations else "none")
            continue
        low, high = min(points), max(points)
        if len(points) >= MIN_UNITS:
            low, high = astuple(interval(points))
        judged.add("met" if high <= limit_ms else "violated" if low > limit_ms else "unsure")
    if "violated" in judged:
        return "violated"
    return "unsure" if "unsure" in judged or judged == {"none"} else "met"


def conclusion(one: Candidate, pairs: Sequence[Finding]) -> Finding:
    """The finding about the best density of `one`. pairs: its comparisons of two densities, already
    decided."""
    first, shared = one.densities[0].entry, held_equal(one.densities[0].entry)
    subject, among = first.label.split(",")[0], ", ".join(shared)
    base: dict[str, Any] = {
        "id": f"best-density-{first.mode}-r{first.count('records') or 0}-{'-'.join(shared)}",
        "family": FAMILY,
        "subject": subject,
        "measure": "best density under the SLO",
        "among": among,
        "rule": "meets the SLO, and its rate is above that of every other density",
        "unit": "build",
        "question": FAMILY if one.main else None,
        "stand_in": stand_in(one.forbidden),
        "cells": cells(*(variant.entry for variant in one.densities)),
    }
    if one.best is None:
        words = f"No density meets the SLO ({one.limits}) for {subject}, {among}"
        why = "every density violates the SLO"
        return Finding(**base, statement=words, verdict="inconclusive", why=why)
    best = capitalised(one.words)
    statement = f"{best} is the best density for {subject}, {among}, under the SLO ({one.limits})"
    verdict, why = _verdict(one, one.best, pairs)
    # "above every other" is an intersection of tests: as uncertain as its least certain comparison
    worst = max(
        pairs, key=lambda pair: 1.0 if pair.p_adjusted is None else pair.p_adjusted, default=None
    )
    tested = {name: getattr(worst, name) for name in _OF_WORST} if worst else {}
    return Finding(
        **base,
        **tested,
        statement=statement,
        verdict=verdict,
        why=why,
        variants=one.words,
        n=tuple(len(rate_points(variant.entry)) for variant in one.densities),
    )


def _question(evidence: Evidence, best: _Variant, other: _Variant) -> Question:
    first, later = other.entry, best.entry
    return Question(
        id=f"{later.topology}-over-{first.topology}",
        family=FAMILY,
        subject=later.label,
        measure="throughput",
        variants=f"{evidence.density(later.density)} over {evidence.density(first.density)}",
        rule=RISES,
        first=rate_points(first),
        later=rate_points(later),
        obstacles=(*evidence.about_density(first, later), *evidence.about_searches(first, later)),
        refused=evidence.differences(first, later),
        declared=(*evidence.declared(first, later), *more_daemons(first, later)),
        cells=cells(first, later),
    )


def _verdict(
    one: Candidate, best: _Variant, pairs: Sequence[Finding]
) -> tuple[FindingVerdict, str]:
    """Never `refuted`: the rule itself names the density."""
    if best.slo != "met":
        return (
            "inconclusive",
            "it may not meet the SLO: an interval contains a limit, or a latency is unknown",
        )
    if not one.main and all(pair.verdict == "measured" for pair in pairs):
        return "measured", MEASURED
    open_pairs = [pair for pair in pairs if pair.verdict != "confirmed"]
    if open_pairs:
        return "inconclusive", f"{open_pairs[0].variants}: {open_pairs[0].why}"
    few = len(rate_points(best.entry)) < MIN_UNITS
    if one.forbidden or few:
        return "inconclusive", "; ".join(
            one.forbidden
        ) or f"a claim needs {MIN_UNITS} builds per variant"
    return "confirmed", pairs[0].why if pairs else "every other density violates the SLO"
