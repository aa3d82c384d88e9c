"""Ends the repetitions of a study once its comparisons are precise, or its questions are answered. Does not
import Airflow."""

from __future__ import annotations

import logging

from density_study.cluster.state.events import RepetitionsEnded
from density_study.dags.stages.answered import is_too_late, leave
from density_study.workloads.execution.run import Run, spared_trials
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
    from density_study.jobs.first_look.precision import looks_of

    found = looks_of(run, precise.until)
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
