"""How much each comparison of a study varied in earlier runs, and each question in the first repetitions of a
run: what the next ones can detect follows from that.

Latencies vary more than rates, and one test case more than another. A spread pooled over all of them would
promise of the noisiest comparison what only the quietest can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import variance

from scipy import special

from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import Evidence, Question
from density_study.analysis.statistics.difference import difference
from density_study.analysis.statistics.power import LEAST_SPREAD
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Hypotheses

POOLED = 4
"""Degrees of freedom that the comparisons of one measure lend to each of them: five repetitions by themselves
know a spread to within a factor of 2.9."""
Seen = tuple[float, float]
"""Variance of one build's logarithm around its repetition, and degrees of freedom."""


@dataclass(frozen=True)
class Measured:
    """Standard deviation of a build's logarithm around its variant and repetition, and its 95 %
    interval."""

    noise: float
    low: float
    high: float


def noise_of_questions(evidence: Evidence, hypotheses: Hypotheses) -> Mapping[str, Measured]:
    """The noise of each question with two builds of two variants, pooled over its comparisons. What the
    variants differ by does not enter it."""
    by_name: dict[str, list[Seen]] = {}
    for one in asked(evidence, hypotheses).main:
        if seen := _seen(one, evidence.repetitions):
            by_name.setdefault(one.name, []).append(seen)
    return {name: _measured(seen) for name, seen in by_name.items()}


def _measured(seen: Sequence[Seen]) -> Measured:
    """Comparisons share builds, so the interval is that of the one with the fewest."""
    noise, freedom = _pooled(seen), min(one for _, one in seen)
    # (n - 1) s^2 / sigma^2 has a chi-squared distribution
    low, high = (noise * sqrt(freedom / special.chdtri(freedom, tail)) for tail in (0.025, 0.975))
    return Measured(noise, float(low), float(high))


def noise_seen(summaries: Sequence[Summary], hypotheses: Hypotheses) -> Mapping[str, float]:
    """Standard deviation between builds of a repetition, by the id of each comparison, and by measure for
    comparisons that no earlier run had. Empty if no run has two builds of two variants."""
    by_measure: dict[str, dict[str, list[Seen]]] = {}
    for summary in summaries:
        evidence = Evidence(summary.test_cases, summary.repetitions, Isolation.UNKNOWN)
        for one in asked(evidence, hypotheses).every:
            if seen := _seen(one, summary.repetitions):
                by_measure.setdefault(one.measure, {}).setdefault(one.id, []).append(seen)
    found: dict[str, float] = {}
    for measure, by_id in by_measure.items():
        found[measure] = _pooled(list(chain.from_iterable(by_id.values())))
        lent = found[measure] ** 2, POOLED
        # moderated variances: G. Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004)
        found |= {id_: _pooled([*mine, lent]) for id_, mine in by_id.items()}
    return found


def _seen(question: Question, repetitions: int) -> Seen | None:
    """None without two units of each variant."""
    sides = question.sides
    if min(map(len, sides)) < 2 or min(map(min, sides)) <= 0:
        return None
    if question.reference:
        shares = [point / question.reference for point in question.later]
        return variance(shares), len(shares) - 1
    found = difference(question.first, question.later, question.blocks or repetitions)
    units = min(map(len, sides))
    return found.error**2 * units / max(1, len(question.cells)), found.freedom


def _pooled(found: Sequence[Seen]) -> float:
    freedom = sum(one for _, one in found)
    return max(LEAST_SPREAD, sqrt(sum(square * one for square, one in found) / freedom))
