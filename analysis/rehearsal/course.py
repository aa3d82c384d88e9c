"""`course_of`: what a drawn rehearsal finds, and how long it takes, look by look as a run would."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from density_study.analysis.findings import findings
from density_study.analysis.findings.answered import (
    Standing,
    evidence_of,
    last_needed,
    ran,
    spared_by,
    standing,
)
from density_study.analysis.findings.noise_seen import noise_of_questions
from density_study.analysis.findings.power_of_design import looks_of
from density_study.analysis.findings.question import Cell
from density_study.analysis.findings.question_power import PlannedQuestion
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.hypotheses import Hypotheses

TestCases = tuple[TestCaseSummary, ...]


@dataclass(frozen=True)
class Course:
    """`seconds`: those of the plan's steps that were carried out, by their estimates."""

    findings: Sequence[Finding]
    seconds: float


def course_of(
    plan: Plan,
    asked: Hypotheses,
    test_cases: TestCases,
    budget_s: float | None = None,
    questions: Sequence[PlannedQuestion] = (),
) -> Course:
    """`test_cases`: with the points of every repetition of the plan, of which it may not need all.
    `budget_s`: no repetition begins that would end later; None: all that questions need. `questions`: those
    that a reserve is for."""
    spared = frozenset[str]()
    if reserve := plan.after(plan.planned):
        plan = _replanned(plan, asked, test_cases, budget_s, questions)
        spared = frozenset(reserve).intersection(plan.after(plan.planned))
    if looks := looks_of(plan):
        for after in range(looks.first, looks.last):
            seen = _up_to(test_cases, ran(plan, spared, after))
            now = standing(evidence_of(plan, seen, spared, after), asked)
            found = spared | frozenset(spared_by(plan, now, after))
            if budget_s is not None and seconds_of(plan, found, after + 1) > budget_s:
                now = Standing(now.answered, (*now.hopeless, *now.open), {})
            spared |= frozenset(spared_by(plan, now, after))
            if not now.cells:
                break
        test_cases = _up_to(test_cases, ran(plan, spared, plan.repetitions))
    return Course(findings(evidence_of(plan, test_cases, spared), asked), seconds_of(plan, spared))


def _replanned(
    plan: Plan,
    asked: Hypotheses,
    test_cases: TestCases,
    budget_s: float | None,
    questions: Sequence[PlannedQuestion],
) -> Plan:
    first = _up_to(test_cases, ran(plan, (), plan.pilot))
    seen = evidence_of(plan, first, (), plan.pilot)
    paid = plan.paid_by(inf if budget_s is None else budget_s)
    return plan.replanned(last_needed(questions, noise_of_questions(seen, asked), plan, paid))


def seconds_of(plan: Plan, spared: Collection[str], last: int | None = None) -> float:
    """Estimated time of the repetitions up to `last` (None: all) without these trials, and without the builds
    of which nothing is left."""
    steps = [step for step in plan.steps if last is None or step.repetition <= last]
    builds = {step.build for step in steps if step.trial and step.trial not in spared}
    return sum(
        step.estimate_s
        for step in steps
        if step.build in builds and (step.trial is None or step.trial not in spared)
    )


def _up_to(test_cases: TestCases, counts: Mapping[Cell, int]) -> TestCases:
    """The test cases with the points of as many repetitions as each had on its variant."""
    return tuple(_first(one, counts[one.test_case, one.topology]) for one in test_cases)


def _first(one: TestCaseSummary, blocks: int) -> TestCaseSummary:
    metrics = tuple(
        metric.model_copy(update={"points": metric.points[:blocks]}) for metric in one.metrics
    )
    return one.model_copy(update={"metrics": metrics, "n_builds": blocks})
