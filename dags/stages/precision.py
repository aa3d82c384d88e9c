"""Ends the repetitions of a study once its comparisons are precise, or its questions are answered. Does not
import Airflow."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from density_study.cluster.model.isolation import isolation_of
from density_study.cluster.state.events import (
    QuestionsLeft,
    RepetitionsEnded,
    RunOpened,
    StepEnded,
    StepStarted,
)
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.execution.run import Run, spared_trials
from density_study.workloads.execution.step_times import taken
from density_study.workloads.planning.plan import Step

log = logging.getLogger(__name__)


def look(run: Run, step: Step) -> None:
    """Before `step` begins a repetition that is not needed in any case: look at the comparisons, and if all
    are precise enough, journal that the repetitions have ended. Without a width, each question ends by
    itself.

    A function of the records: a run that was killed looks again, and sees the same.
    """
    precise = run.plan.precise
    if precise is None or not precise.at_least < step.repetition <= precise.at_most:
        return
    trials = {str(one.trial) for one in run.plan.trials if one.repetition == step.repetition}
    if trials <= spared_trials(run.journal) or any((run.records / one).exists() for one in trials):
        return  # ended already, or begun
    if precise.until is None:
        leave(run, step)
        return
    from density_study.analysis.findings.precision import compared, looks
    from density_study.analysis.findings.question import Evidence
    from density_study.jobs.first_look.test_cases_so_far import test_cases_so_far

    isolation = isolation_of(one.isolation for one in run.plan.topologies.values())
    evidence = Evidence(test_cases_so_far(run), run.plan.repetitions, isolation)
    found = looks(compared(evidence, run.study.hypotheses), precise.until)
    still = [one for one in found if one.precise is None]
    before = step.repetition - 1
    for one in found:
        ends = "no interval yet" if one.low is None else f"{one.low:.3g} to {one.high:.3g}"
        state = one.precise or "not precise enough"
        log.info(
            "After %d repetitions: %s: %s, n = %d: %s", before, one.comparison, ends, one.n, state
        )
    every = f"all {len(found)} comparisons were" if len(found) > 1 else "the only comparison was"
    why = f"{every} precise enough"
    if still or not found:
        log.info("%d of %d comparisons are not precise enough yet", len(still), len(found))
        if not is_too_late(run, spared_trials(run.journal), step.repetition):
            return
        why = "too little time was left in the budget"
    later = [one for one in run.plan.trials if step.repetition <= one.repetition <= precise.at_most]
    run.journal.record(
        RepetitionsEnded(
            repetition=before,
            why=why,
            spared=tuple(str(one.trial) for one in later),
        )
    )


def leave(run: Run, step: Step) -> None:
    """Before `step` begins a repetition that is not needed in any case: look at the questions, and journal
    those that leave, with the trials that no other question needs.

    A function of the records: a run that was killed looks again, and sees the same.
    """
    from density_study.analysis.findings.answered import (
        Standing,
        evidence_of,
        spared_by,
        standing,
    )
    from density_study.analysis.findings.question_power import asked_of_plan
    from density_study.jobs.first_look.test_cases_so_far import test_cases_so_far

    earlier = run.journal.events(QuestionsLeft)
    before, spared = step.repetition - 1, spared_trials(run.journal)
    if any(event.repetition >= before for event in earlier):
        return
    gone = {name for event in earlier for name in (*event.answered, *event.hopeless)}
    evidence = evidence_of(run.plan, test_cases_so_far(run), spared, before)
    now = standing(evidence, asked_of_plan(run.study, run.plan))
    trials = spared_by(run.plan, now, before)
    if is_too_late(run, spared.union(trials), step.repetition):
        now = Standing(now.answered, (*now.hopeless, *now.open), {})
        trials = spared_by(run.plan, now, before)
    event = QuestionsLeft(
        repetition=before,
        answered=_new(now.answered, gone),
        hopeless=_new(now.hopeless, gone),
        spared=tuple(trial for trial in trials if trial not in spared),
    )
    log.info("%s", event.words)
    if event.spared:
        run.journal.record(event)


def is_too_late(run: Run, spared: Collection[str], repetition: int) -> bool:
    """Whether the study has a budget that this repetition, and the analysis after it, would exceed."""
    budget_s = run.study.budget
    if budget_s is None:
        return False
    return spent_s(run, spared, repetition) + ANALYSIS_ESTIMATE_S > budget_s


def spent_s(run: Run, spared: Collection[str], repetition: int) -> float:
    """Seconds that the steps took so far, with those that this repetition would take: by its estimates, and
    the time of the steps so far over theirs."""
    took_s = planned_s = 0.0
    for begun, ended in taken(run.journal.events(RunOpened, StepStarted, StepEnded)):
        if ended is not None:
            took_s += ended.t - begun.t
            planned_s += run.plan.steps[begun.index].estimate_s
    left = [one for one in run.plan.trials if one.repetition == repetition]
    due = {one.build for one in left if one.trial not in spared}
    next_s = sum(
        one.estimate_s
        for one in run.plan.steps
        if one.build in due and (one.trial is None or one.trial not in spared)
    )
    return took_s + next_s * (took_s / planned_s if planned_s else 1.0)


def _new(names: Iterable[str], gone: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)
