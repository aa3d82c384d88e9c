"""Measures the noise of a run's first repetitions, and ends the repetitions once the study's comparisons are
precise, or its questions are answered. Does not import Airflow."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import asdict

from density_study.cluster.model.isolation import isolation_of
from density_study.cluster.state.events import (
    NoiseMeasured,
    QuestionNoise,
    QuestionsLeft,
    RepetitionsEnded,
    RunOpened,
    StepEnded,
    StepStarted,
)
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.execution.run import Run, as_replanned, spared_trials
from density_study.workloads.execution.step_times import taken
from density_study.workloads.planning.plan import Step

log = logging.getLogger(__name__)


def look(run: Run, step: Step) -> None:
    """Before `step` begins a repetition that is not needed in any case: look at the comparisons, and if all
    are precise enough, journal that the repetitions have ended. Without a width, each question ends by
    itself.

    A function of the records: a run that was killed looks again, and sees the same.
    """
    trials = {str(one.trial) for one in run.plan.trials if one.repetition == step.repetition}
    if any((run.records / one).exists() for one in trials):
        return  # begun
    has_reserve = run.plan.planned < run.plan.repetitions
    try:
        measure_noise(run, step)
    except Exception:  # a line that nothing depends on must not end hours of measuring
        if has_reserve:
            raise
        log.warning("The noise of the first repetitions is not known", exc_info=True)
    precise = run.plan.precise
    if precise is None or not precise.at_least < step.repetition <= precise.at_most:
        return
    if trials <= spared_trials(run.journal):
        return  # ended already
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
        RepetitionsEnded(repetition=before, why=why, spared=tuple(str(one.trial) for one in later))
    )


def measure_noise(run: Run, step: Step) -> None:
    """Before `step` begins the first repetition after the pilot: journal how much builds varied, what the
    questions can expect, and with a budget's reserve, how many repetitions follow."""
    before = step.repetition - 1
    if before != run.plan.pilot or run.journal.last(NoiseMeasured):
        return
    from density_study.analysis.findings.answered import evidence_of, last_needed
    from density_study.analysis.findings.noise_seen import noise_of_questions
    from density_study.analysis.findings.question_power import asked_of_plan, questions_of
    from density_study.jobs.first_look.test_cases_so_far import test_cases_so_far

    questions = [one for one in questions_of(run.study, run.plan) if not one.obstacle]
    if not questions and run.plan.planned == run.plan.repetitions:
        return
    evidence = evidence_of(run.plan, test_cases_so_far(run), (), before)
    seen = noise_of_questions(evidence, asked_of_plan(run.study, run.plan))
    paid = _paid(run, before)
    last = last_needed(questions, seen, run.plan, paid)
    planned = max(before, min(last or run.plan.planned, paid))
    event = NoiseMeasured(
        repetition=before,
        questions=tuple(
            QuestionNoise(
                question=one.name,
                **asdict(seen[one.name]),
                power=one.power(planned, seen[one.name].noise),
                detects=one.detects(planned, seen[one.name].noise),
                enough=one.needs(seen[one.name].noise),
            )
            for one in questions
            if one.name in seen
        ),
        planned=planned,
        last=last,
        spared=run.plan.after(last or run.plan.repetitions),
    )
    log.info("%s", event.words)
    run.journal.record(event)


def _paid(run: Run, before: int) -> int:
    """The last repetition that the budget pays at the pace so far, if all questions stay open. It ends no
    fixed number."""
    if run.study.budget is None or run.plan.precise is None:
        return run.plan.repetitions
    took_s, pace = _took(run)
    return run.plan.paid_by(run.study.budget - ANALYSIS_ESTIMATE_S - took_s, pace, before)


def leave(run: Run, step: Step) -> None:
    """Before `step` begins a repetition that is not needed in any case: look at the questions, and journal
    those that leave, with the trials that no other question needs.

    A function of the records: a run that was killed looks again, and sees the same.
    """
    from density_study.analysis.findings.answered import Standing, evidence_of, spared_by, standing
    from density_study.analysis.findings.question_power import asked_of_plan
    from density_study.jobs.first_look.test_cases_so_far import test_cases_so_far

    earlier = run.journal.events(QuestionsLeft)
    before, spared = step.repetition - 1, spared_trials(run.journal)
    if any(event.repetition >= before for event in earlier):
        return
    gone = {name for event in earlier for name in (*event.answered, *event.hopeless)}
    plan = as_replanned(run.plan, run.journal)
    evidence = evidence_of(plan, test_cases_so_far(run), spared, before)
    now = standing(evidence, asked_of_plan(run.study, plan))
    trials = spared_by(plan, now, before)
    if is_too_late(run, spared.union(trials), step.repetition):
        now = Standing(now.answered, (*now.hopeless, *now.open), {})
        trials = spared_by(plan, now, before)
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
    took_s, pace = _took(run)
    left = [one for one in run.plan.trials if one.repetition == repetition]
    due = {one.build for one in left if one.trial not in spared}
    next_s = sum(
        one.estimate_s
        for one in run.plan.steps
        if one.build in due and (one.trial is None or one.trial not in spared)
    )
    return took_s + next_s * pace


def _took(run: Run) -> tuple[float, float]:
    """Seconds that the steps took so far, and these over their estimates."""
    took_s = planned_s = 0.0
    for begun, ended in taken(run.journal.events(RunOpened, StepStarted, StepEnded)):
        if ended is not None:
            took_s += ended.t - begun.t
            planned_s += run.plan.steps[begun.index].estimate_s
    return took_s, took_s / planned_s if planned_s else 1.0


def _new(names: Iterable[str], gone: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)
