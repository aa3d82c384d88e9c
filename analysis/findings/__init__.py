"""Findings: comparisons with a rule fixed before the data, decided by interval and test.

With fewer than 5 units per arm there are points and no claim (method 2). Arms of process groups or on
emulated media show their effect but support no claim (method 24). Arms whose disclosures differ beyond
what the study declares are not compared (method 23).
"""

from __future__ import annotations

from dataclasses import replace

from density_study.analysis.findings import claims, effects
from density_study.analysis.findings.arms import comparable, placed, rate
from density_study.analysis.findings.best_density import best_density
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import Evidence
from density_study.analysis.statistics.power import MIN_UNITS as MIN_BUILDS
from density_study.analysis.summary.summary import Finding
from density_study.workloads.study.hypotheses import Hypotheses

__all__ = ["MIN_BUILDS", "Evidence", "findings", "rate"]


def findings(evidence: Evidence, hypotheses: Hypotheses) -> tuple[Finding, ...]:
    """Every finding of a run: effects, the study's own hypotheses, the best density, the talk's
    claims. Settings of unknown density or medium are in none of them, unless a study compares their clusters
    by name."""
    compared = replace(evidence, settings=comparable(evidence.settings))
    questions = (*effects.questions(compared), *effects.expected(compared, hypotheses.expect))
    evidence = replace(evidence, settings=placed(evidence.settings))
    return (
        *decide(questions, evidence.repetitions, evidence.sequential),
        *best_density(evidence, hypotheses.slo),
        *claims.findings(evidence),
    )
