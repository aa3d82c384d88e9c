"""`course_of`: what a drawn rehearsal finds, and how long it takes, look by look as a run would."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from density_study.analysis.findings import findings
from density_study.analysis.findings.answered import evidence_of, ran, spared_by, standing
from density_study.analysis.findings.power_of_design import looks_of
from density_study.analysis.findings.question import Cell
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.hypotheses import Hypotheses

TestCases = tuple[TestCaseSummary, ...]


@dataclass(frozen=True)
class Course:
    """`seconds`: of the plan's steps that were carried out, by their estimates."""

    findings: Sequence[Finding]
    seconds: float


def course_of(plan: Plan, asked: Hypotheses, test_cases: TestCases) -> Course:
    """`test_cases`: with the points of every repetition of the plan, of which it may not need all."""
    spared = frozenset[str]()
    if looks := looks_of(plan):
        for after in range(looks.first, looks.last):
            seen = _up_to(test_cases, ran(plan, spared, after))
            now = standing(evidence_of(plan, seen, spared, after), asked)
            spared |= frozenset(spared_by(plan, now, after))
            if not now.cells:
                break
        test_cases = _up_to(test_cases, ran(plan, spared, plan.repetitions))
    return Course(findings(evidence_of(plan, test_cases, spared), asked), seconds_of(plan, spared))


def seconds_of(plan: Plan, spared: Collection[str]) -> float:
    """Estimated time without these trials, and without the builds of which nothing is left."""
    builds = {step.build for step in plan.trials if step.trial not in spared}
    return sum(
        step.estimate_s
        for step in plan.steps
        if step.build in builds and (step.kind != "trial" or step.trial not in spared)
    )


def _up_to(test_cases: TestCases, counts: Mapping[Cell, int]) -> TestCases:
    """With the points of the repetitions that each test case of a variant had."""
    return tuple(_first(one, counts[one.test_case, one.topology]) for one in test_cases)


def _first(one: TestCaseSummary, blocks: int) -> TestCaseSummary:
    metrics = tuple(
        metric.model_copy(update={"points": metric.points[:blocks]}) for metric in one.metrics
    )
    return one.model_copy(update={"metrics": metrics, "n_builds": blocks})
