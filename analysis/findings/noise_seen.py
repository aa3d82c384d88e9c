"""How much each comparison of a study varied in earlier runs: what its next run can detect follows from that.

Latencies vary more than rates, and one test case more than another. A spread pooled over all of them would
promise of the noisiest comparison what only the quietest can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import sqrt
from statistics import variance

from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import Evidence, Question
from density_study.analysis.statistics.difference import difference
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Hypotheses

POOLED = 4
"""Degrees of freedom that the comparisons of one measure lend to each of them: five repetitions by themselves
know a spread to within a factor of 2.9."""
Seen = tuple[float, float]
"""Variance of one build's logarithm around its repetition, and degrees of freedom."""


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
    sides = (question.later,) if question.reference else (question.first, question.later)
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
    return sqrt(sum(square * one for square, one in found) / freedom)
