"""The work of the tasks of a study, as plain functions of a run's folder. Does not import Airflow.

The clean-up of `study run` calls the same functions, so that every run ends in the same way.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from cluster.lifecycle.reap import Swept
from cluster.lifecycle.reap import reap as reap_clusters
from cluster.model.errors import InputError, StudyError, TearDownError
from cluster.state.events import AnalysisEnded, RunEnded, RunOpened, StepEnded, TornDown
from cluster.state.owner import Owner
from cluster.state.presence import present
from cluster.state.run_tags import DAG_RUN, tag_run
from dags.airflow_home.home import ONE_PROCESS, SCHEDULER_PID, base_folder
from dags.stages.comparison import compare_run, comparison_lines, format_change
from workloads.execution.run import Run, RunRequest, end_run, load_run, open_run
from workloads.execution.steps import (
    StepOutcome,
    close_run,
    run_next_step,
    steps_left,
    what_is_left,
)
from workloads.record.record import OPEN, close_unfinished, closed_records, is_closed
from workloads.spec.shipped import study_path

log = logging.getLogger(__name__)


def open_or_load(params: Mapping[str, Any], dag_run: str) -> str:
    """Folder of the run in `params["run"]`, or of a run opened from the other parameters.

    `dag_run` names the DAG run that executes it. Writes the plan and the journal; builds nothing.
    InputError for invalid input.
    """
    if params.get("run"):
        run = load_run(_absolute(params["run"]))
    else:
        from dags.stages.planning import check_plan  # the statistics take a second to import

        spec, runs = study_path(Path(params["spec"]), base_folder()), _absolute(params["runs"])
        run = open_run(
            spec,
            runs,
            params["overrides"],
            request=RunRequest(params["fresh"], params["add_repetitions"], tuple(params["only"])),
            owner=airflow_owner(dag_run),
            check=lambda study, plan: check_plan(study, plan, spec, runs),
        )
    if ONE_PROCESS not in os.environ:  # the DAG runs of `study run` are in no web UI
        tag_run(run.root, {DAG_RUN: dag_run})
    log.info("Run %s: %d steps, about %.0f s", run.root, len(run.plan.steps), run.plan.estimate_s)
    return str(run.root)


def slots(root: str) -> list[str]:
    """Labels of the remaining steps, in the plan's order: one mapped task each."""
    run = load_run(Path(root))
    labels = [step.label for step in steps_left(run)]
    log.info("Remaining steps, in this order:\n%s", "\n".join(labels))
    return labels


def step(root: str) -> StepOutcome | None:
    """Execute the next step of the plan. None if no step is left."""
    with present(Path(root)):
        ended = run_next_step(load_run(Path(root)))
    if ended is None:
        log.info("The plan has no step left.")
    else:
        log.info("%s: %s %s", ended.step.label, ended.outcome, ended.message)
        _log_first_look(Path(root) / "records" / (ended.step.trial or ""))
    return ended


def _log_first_look(record: Path) -> None:
    if not is_closed(record):  # a bring-up or a tear-down
        return
    from jobs.first_look.look import first_look

    seen = first_look(record)
    log.info("Record %s: %s", record, ", ".join((seen.outcome, *seen.numbers)))
    for reason in (*seen.reasons, *seen.flags):
        log.info("%s: %s", record.name, reason)


def tear_down(root: str, reason: str = "the run was stopped before the trial ended") -> None:
    """Remove the run's cluster and verify that it is gone; TearDownError if it is not.

    An open record is closed as `incomplete`, with `reason`.
    """
    run = load_run(Path(root))
    try:
        with present(run.root):
            close_run(run)
    except StudyError as error:
        run.journal.record(TornDown(outcome="failed", message=str(error)))
        raise
    finally:
        for trial in close_unfinished(run.records, reason):
            log.info("Closed record %s as incomplete: %s", trial, reason)
    run.journal.record(TornDown(outcome="ok", message=""))
    log.info("Tear-down verified: run %s has no process and no data left", run.root)


def reap(runs: Path, dry_run: bool, force: str | None = None) -> Swept:
    """Remove the leftovers of ended and killed runs below `runs` and verify that they are gone.

    Their open records are closed as `incomplete`. `force` names an owner that is known to be dead.
    """
    return reap_clusters(runs, dry_run, _close_records, force)


def _close_records(root: Path, dry_run: bool) -> tuple[str, ...]:
    records = root / "records"
    trials = (
        [path.name.removesuffix(OPEN) for path in sorted(records.glob("*" + OPEN))]
        if dry_run
        else close_unfinished(records, "the run was killed before the trial ended")
    )
    return tuple(f"open record {trial} (closed as incomplete)" for trial in trials)


def analyse(root: str, stage: str) -> None:
    """Run one stage of the analysis; `jobs.pipeline` describes the stages."""
    from jobs import pipeline

    if ONE_PROCESS in os.environ:
        pipeline.prepare()  # with a process per task, only the stages that need it start Spark
    with present(Path(root)):
        pipeline.run_stage(stage, Path(root))


def runs_to_plan(params: Mapping[str, Any], triggering: Sequence[str | None]) -> list[str]:
    """Folders of the runs to size a cluster from, without duplicates. InputError if there is none."""
    named = [params["run"]] if params.get("run") else [run for run in triggering if run]
    if not named:
        raise InputError(
            "no run is named, and no run triggered this DAG run.",
            "capacity_plan",
            "set the parameter `run` to the folder of a run.",
        )
    return list(dict.fromkeys(str(_absolute(run)) for run in named))


def plan_capacity(root: str, params: Mapping[str, Any]) -> str:
    """Write report/capacity-plan.json, and the report again. Returns the path of the plan."""
    from analysis.capacity.inputs.question import parse_promises, question
    from analysis.capacity.plan.plan import PLAN, Plan
    from analysis.capacity.sizing.run_plan import plan_run
    from jobs import pipeline

    if not params["hosts"]:
        raise InputError(
            "no host catalogue is named.",
            "capacity_plan",
            "set the parameter `hosts` or the setting `catalogue` to a file of host types with prices.",
        )
    wanted = question(float(params["genomes_per_day"]), parse_promises(params["slo"]))
    found = plan_run(Path(root), wanted, params["profile"], _absolute(params["hosts"]))
    if isinstance(found, Plan):
        log.info("Plan: %d hosts of type %s", found.hosts, found.host_type)
    else:
        log.info("No plan fits: %s", "; ".join(found.reasons))
    pipeline.run_stage("report", Path(root))
    return str(Path(root) / "report" / PLAN)


def regression(root: str) -> str:
    """Compare the run with earlier ones, as configured in its study, and write report/comparison.json.

    Returns the answer; empty without `compare` in the study, or without an earlier run. StudyError for
    a regression beyond the study's tolerance.
    """
    run = load_run(Path(root))
    compared = compare_run(run)
    if compared is None:
        return ""
    log.info("%s", "\n".join(comparison_lines(compared)))
    if compared.regressions:
        raise StudyError(
            f"{compared.headline} {'; '.join(format_change(c) for c in compared.regressions)}.",
            str(run.root),
            "check the candidate causes: "
            + ("; ".join(compared.candidate_causes) or "the records show none")
            + ".",
        )
    return compared.headline


def stop(root: str, dag_run: str, why: str) -> None:
    """Tear down and end a run that `dag_run` has not finished, so that it can be resumed. Skips a run
    that has ended or now has another owner."""
    run = load_run(Path(root))
    opened = run.journal.last(RunOpened)
    owner = opened.owner if opened else None
    if is_concluded(run) or owner != airflow_owner(dag_run):
        return
    tear_down(root, why)
    _end(run, "failed", f"{why}: {what_is_left(run)}.", finished=False)


def conclude(root: str, stopped: str = "") -> None:
    """End the run in its journal and release the host. StudyError if anything failed.

    A run with steps left (`stopped` is the reason), or with leftovers, has failed but is not finished: it
    can be resumed. After a failed tear-down, another study gets the host only when no process of this
    run is left on it.
    """
    run = load_run(Path(root))
    try:
        _check_can_end(run, stopped)
    except StudyError as error:
        _end(run, "failed", error.what, finished=False)
        raise
    bad = failures(run)
    _end(run, "failed" if bad else "ok", "; ".join(bad), finished=True)
    if bad:
        raise StudyError(
            f"the run has {len(bad)} failure(s): {'; '.join(bad)}.",
            str(run.root),
            "see the logs. A run does not repeat its failed trials; start a new run to repeat them.",
        )
    log.info("All %d steps of run %s succeeded", len(run.plan.steps), run.root)


def _end(run: Run, outcome: Literal["ok", "failed"], message: str, *, finished: bool) -> None:
    """Write the end once: Airflow's Clear may conclude a run twice."""
    ends = run.journal.since_opening(RunEnded)
    last = (ends[-1].outcome, ends[-1].message, ends[-1].finished) if ends else None
    if last != (outcome, message, finished):
        end_run(run, outcome, message, finished=finished)
        from analysis.hub.page import rebuild  # its charts take a second to import

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
            "remove it, then run study reap.",
        )


def failures(run: Run) -> list[str]:
    """Failed trials, builds, tear-down and analysis, with reasons. Trials come from their records, which
    persist when a run is resumed; the rest from the journal since the run was last opened."""
    return [*_failed_acts(run), *_bad_trials(run)]


def _bad_trials(run: Run) -> Iterator[str]:
    """One line per reason, with the trials that are not complete because of it."""
    records = closed_records(run.records)
    trials: dict[str, list[str]] = {}
    for step in run.plan.trials:
        record = records.get(str(step.trial))
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
    if "report" not in {ended.stage for ended in run.journal.since_opening(AnalysisEnded)}:
        yield "analysis: it did not finish, so there is no report"


def _tear_down_fault(run: Run) -> str:
    """Why the last tear-down of the run is not verified; empty if it is."""
    guards = run.journal.since_opening(TornDown)
    if not guards:
        return "it did not finish"
    return "" if guards[-1].outcome == "ok" else guards[-1].message


def is_concluded(run: Run) -> bool:
    """Whether the run has ended since it was last opened."""
    return bool(run.journal.since_opening(RunEnded))


def airflow_owner(dag_run: str) -> Owner:
    """Owner that outlives the tasks of a DAG run: the scheduler started by `make airflow`, which sets
    STUDY_SCHEDULER_PID for its children; with any other Airflow, the DAG run itself."""
    scheduler = os.environ.get(SCHEDULER_PID)
    return Owner.of_process(int(scheduler)) if scheduler else Owner.of_dag_run(dag_run)


def _absolute(path: str) -> Path:
    """Resolve a relative path in the base folder, because a scheduler may run in any folder."""
    return base_folder() / path
