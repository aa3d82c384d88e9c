"""Findings: comparisons with a rule fixed before the data, decided by interval and test.

The comparisons of the study's questions share one error budget of 5 % for the report (Holm). All others are
measured, not tested: each has its 95 % interval, of which one in twenty misses.

With fewer than 5 units per variant there are points and no claim (method 2). Variants of process groups or on
emulated disks show their effect but support no claim (method 24). Variants whose disclosures differ beyond
what the study declares are not compared (method 23).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from density_study.analysis.findings import claims
from density_study.analysis.findings.best_density import conclusion
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import Evidence, Question
from density_study.analysis.findings.variants import rate
from density_study.analysis.statistics.power import MIN_UNITS as MIN_BUILDS
from density_study.analysis.summary.summary import Finding
from density_study.workloads.study.hypotheses import Hypotheses

__all__ = ["MIN_BUILDS", "Evidence", "findings", "rate"]


def findings(evidence: Evidence, hypotheses: Hypotheses) -> tuple[Finding, ...]:
    """Every finding of a run: effects, the study's own hypotheses, the best density, the talk's
    claims."""
    every = asked(evidence, hypotheses)
    found = iter(decide(every.every, evidence.repetitions, evidence.sequential, evidence.looks))

    def told(some: Sequence[Question]) -> tuple[Finding, ...]:
        return tuple(islice(found, len(some)))

    return (
        *told(every.standard),
        *(conclusion(one, told(one.pairs)) for one in every.best),
        *chain(
            *(claims.conclusion(id_, parts, told(parts)) for id_, parts in every.claimed.items())
        ),
    )
