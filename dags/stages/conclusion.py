"""How a run ends: concluded after its last step, or stopped. Does not import Airflow."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Literal

from density_study.cluster.model.errors import StudyError, TearDownError
from density_study.cluster.model.plain import counted, one_line
from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisFailed,
    AnalysisStarted,
    RunEnded,
    RunOpened,
    StepEnded,
    TornDown,
    TrialState,
)
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_state import how_to_reap
from density_study.dags.stages.study_stages import analyse, tear_down
from density_study.jobs.stage_names import REPORT, STAGE_NAMES
from density_study.workloads.execution.keeping import hold
from density_study.workloads.execution.run import Run, end_run, load_run, spared_trials
from density_study.workloads.execution.steps import what_is_left
from density_study.workloads.record.record import closed_records

log = logging.getLogger(__name__)


def stop(run: Run, owner: Owner, why: str) -> None:
    """Tear down and end a run that `owner` has not finished; it can be resumed. Skips a run that has
    ended or now has another owner."""
    opened = run.journal.last(RunOpened)
    if is_concluded(run) or opened is None or opened.owner != owner:
        return
    tear_down(str(run.root), why)
    _end(run, "failed", f"{why}: {what_is_left(run)}.", finished=False)


def conclude(root: str, marked: str = "") -> None:
    """Hold the cluster that `study run --keep` requested. Then take down what is left, bring the report
    up to date, end the run in its journal and release the host. StudyError if anything failed.

    A run with steps left, or with leftovers, has failed but is not finished: it can be resumed. `marked`
    tells that a person ended it. After a failed tear-down, another study gets the host only when no process
    of this run is left on it.
    """
    run = load_run(Path(root))
    hold(run)
    try:
        tear_down(root)
    except StudyError as error:
        log.error("%s", error)  # the end below says it too
    if not marked and _report_is_old(run):
        log.info("A trial was measured again, so the run is analysed again")
        _analyse_again(run)
    try:
        _check_can_end(run, marked)
    except StudyError as error:
        _end(run, "failed", error.what, finished=False)
        raise
    bad = failures(run)
    _end(run, "failed" if bad else "ok", "; ".join(bad), finished=True)
    if bad:
        raise StudyError(
            f"the run has {counted(len(bad), 'failure')}: {'; '.join(bad).rstrip('.')}.",
            str(run.root),
            "see the logs. Clear a trial in Airflow to measure it again, or start a new run.",
        )
    log.info("All %d steps of run %s succeeded", len(run.plan.steps), run.root)


def _analyse_again(run: Run) -> None:
    """A fault is journalled, and is then one of the run's failures: the run ends and releases its hosts."""
    for stage in STAGE_NAMES:
        try:
            analyse(str(run.root), stage)
        except Exception as error:
            log.error("The analysis failed", exc_info=error)
            run.journal.record(AnalysisFailed(stage=stage, message=one_line(str(error))))
            return


def _report_is_old(run: Run) -> bool:
    """Whether a trial was measured after the last analysis began."""
    events = run.journal.events(TrialState, AnalysisStarted)
    begun = [n for n, e in enumerate(events) if isinstance(e, AnalysisStarted)]
    measured = [n for n, e in enumerate(events) if isinstance(e, TrialState)]
    return bool(begun and measured) and measured[-1] > begun[-1]


def _end(run: Run, outcome: Literal["ok", "failed"], message: str, *, finished: bool) -> None:
    """Write the end once: Airflow's Clear may conclude a run twice."""
    ends = run.journal.since_opening(RunEnded)
    last = (ends[-1].outcome, ends[-1].message, ends[-1].finished) if ends else None
    if last != (outcome, message, finished):
        end_run(run, outcome, message, finished=finished)
        from density_study.analysis.hub.page import rebuild  # its charts take a second to import

        rebuild(run.root.parents[1])


def _check_can_end(run: Run, stopped: str) -> None:
    if left := what_is_left(run):
        raise StudyError(
            f"{stopped}: {left}." if stopped else f"{left}.",
            str(run.root),
            "run the study again to resume it.",
        )
    if fault := _tear_down_fault(run):
        raise TearDownError(
            f"the tear-down left something behind: {fault}.",
            str(run.root),
            f"remove it, then run `{how_to_reap(run.root)}`.",
        )


def failures(run: Run) -> list[str]:
    """Failed trials, builds, tear-down and analysis, with reasons. Trials come from their records, which
    persist when a run is resumed; the rest from the journal since the run was last opened."""
    return [*_failed_acts(run), *_bad_trials(run)]


def _bad_trials(run: Run) -> Iterator[str]:
    """One line per reason, with the trials that are not complete because of it."""
    records = closed_records(run.records)
    spared = spared_trials(run.journal)
    trials: dict[str, list[str]] = {}
    for step in run.plan.trials:
        record = records.get(str(step.trial))
        if record is None and step.trial in spared:
            continue
        if record is None:
            trials.setdefault("not run", []).append(step.label)
        elif record.state != "complete":
            trials.setdefault("; ".join(record.reasons) or record.state, []).append(step.label)
    for reason, labels in trials.items():
        others = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        yield f"{labels[0]}{others}: {reason}"


def _failed_acts(run: Run) -> Iterator[str]:
    """Without a journal event of success an action counts as failed: a killed process writes none."""
    for ended in run.journal.since_opening(StepEnded):
        if ended.outcome == "failed" and not ended.trial:
            yield f"{ended.kind} {ended.build}: {ended.message}"
    if fault := _tear_down_fault(run):
        yield f"tear-down: {fault}"
    stages = run.journal.since_opening(AnalysisEnded, AnalysisFailed)
    has_report = any(isinstance(one, AnalysisEnded) and one.stage == REPORT for one in stages)
    faults = [one for one in stages if isinstance(one, AnalysisFailed)]
    if not has_report or stages[-1:] == faults[-1:]:
        what = "the report is that of an earlier one" if has_report else "there is no report"
        why = f": {faults[-1].stage}: {faults[-1].message}" if faults else ""
        repeat = f"repeat it by `study report {quote(str(run.root))}`"
        yield f"analysis: it did not finish, so {what}{why}; {repeat}"


def _tear_down_fault(run: Run) -> str:
    """Why the last tear-down of the run is not verified; empty if it is."""
    guards = run.journal.since_opening(TornDown)
    if not guards:
        return "it did not finish"
    return "" if guards[-1].outcome == "ok" else guards[-1].message


def is_concluded(run: Run) -> bool:
    """Whether the run has ended since it was last opened."""
    return bool(run.journal.since_opening(RunEnded))
