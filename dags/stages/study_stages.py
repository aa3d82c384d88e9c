"""What the tasks of the DAG do, as plain functions of a run's folder. No Airflow in here.

The command's clean-up calls the same functions, so that a run ends alike whoever drives it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from cluster.lifecycle.reap import Swept
from cluster.lifecycle.reap import reap as reap_clusters
from cluster.model.errors import StudyError, TearDownError
from cluster.state.atomic import write_text
from cluster.state.owner import Owner
from cluster.state.presence import present
from dags.airflow_home.home import SCHEDULER_PID, project_root
from dags.stages.comparison import COMPARISON, compare_with, comparison_lines, told
from workloads.execution.run import Run, RunRequest, end_run, load_run, open_run
from workloads.execution.steps import (
    StepOutcome,
    close_run,
    run_next_step,
    steps_left,
    what_is_left,
)
from workloads.record.record import OPEN, close_unfinished, closed_records

log = logging.getLogger(__name__)


def open_or_load(params: Mapping[str, Any], dag_run: str) -> str:
    """Folder of the run that `params["run"]` names, or of one opened as the other params say.

    `dag_run` names the DAG run that carries it out. Writes the plan and the journal; builds nothing.
    InputError on bad input.
    """
    if params.get("run"):
        run = load_run(_absolute(params["run"]))
    else:
        if not params["add_repetitions"]:
            from dags.stages.planning import check  # the statistics take a second to import

            check(_absolute(params["spec"]), params["overrides"], _absolute(params["runs"]),
                  params["only"])  # fmt: skip
        run = open_run(
            _absolute(params["spec"]),
            _absolute(params["runs"]),
            params["overrides"],
            ask=RunRequest(params["fresh"], params["add_repetitions"], tuple(params["only"])),
            owner=airflow_owner(dag_run),
        )
    log.info("run %s: %d steps, about %.0f s", run.root, len(run.plan.steps), run.plan.estimate_s)
    return str(run.root)


def slots(root: str) -> list[str]:
    """A label for each step still to be done, in the plan's order: one mapped task each."""
    run = load_run(Path(root))
    labels = [step.label for step in steps_left(run)]
    log.info("to be done, in this order:\n%s", "\n".join(labels))
    return labels


def step(root: str) -> StepOutcome | None:
    """Carry out the next step of the plan, whichever slot asks. None when none is left."""
    with present(Path(root)):
        ended = run_next_step(load_run(Path(root)))
    if ended is None:
        log.info("no step of the plan is left")
    else:
        log.info("%s: %s %s", ended.step.label, ended.outcome, ended.message)
    return ended


def tear_down(root: str, reason: str = "the run was stopped before the trial ended") -> None:
    """Remove whatever of the run still stands and prove it gone; TearDownError if it is not.

    A record left open is closed as `incomplete`, for `reason`.
    """
    run = load_run(Path(root))
    try:
        with present(run.root):
            close_run(run)
    except StudyError as error:
        run.journal.write("tear-down", outcome="failed", message=str(error))
        raise
    finally:
        for trial in close_unfinished(run.records, reason):
            log.info("record %s closed as incomplete: %s", trial, reason)
    run.journal.write("tear-down", outcome="ok", message="")
    log.info("nothing of run %s is left standing", run.root)


def reap(runs: Path, dry_run: bool, force: str | None = None) -> Swept:
    """Remove what ended or killed runs below `runs` left, and prove it gone. Their open records are
    closed as `incomplete`. `force` names an owner that is known to be dead."""
    return reap_clusters(runs, dry_run, _close_records, force)


def _close_records(root: Path, dry_run: bool) -> tuple[str, ...]:
    records = root / "records"
    if dry_run:
        trials = [path.name.removesuffix(OPEN) for path in sorted(records.glob("*" + OPEN))]
        return tuple(f"open record {trial} (closed as incomplete)" for trial in trials)
    trials = close_unfinished(records, "the run was killed before the trial ended")
    return tuple(f"open record {trial} (closed as incomplete)" for trial in trials)


def analyse(root: str, stage: str) -> None:
    """One stage of the analysis; `jobs.pipeline` describes each."""
    from jobs import pipeline

    with present(Path(root)):
        pipeline.run_stage(stage, Path(root))


def regression(root: str) -> str:
    """Hold the run against earlier ones as its study says, in report/comparison.json; the answer.

    Empty if the study has nothing to compare with yet, or does not ask. StudyError on a change for the
    worse beyond the study's tolerance.
    """
    run = load_run(Path(root))
    if run.study.compare is None:
        return ""
    compared = compare_with(run.root, run.study.compare.baseline, run.study.compare.tolerance)
    if compared is None:
        return ""
    write_text(run.root / "report" / COMPARISON, compared.model_dump_json(indent=2) + "\n")
    log.info("%s", "\n".join(comparison_lines(compared)))
    if compared.regressions:
        raise StudyError(
            f"{compared.headline} {'; '.join(told(change) for change in compared.regressions)}.",
            str(run.root),
            "candidate causes: "
            + ("; ".join(compared.candidate_causes) or "none is disclosed")
            + ".",
        )
    return compared.headline


def stop(root: str, dag_run: str, why: str) -> None:
    """Take down and end a run that `dag_run` has not finished; it can be gone on with. A run that has
    ended, or that has another owner by now, is left alone."""
    run = load_run(Path(root))
    opening = since_opening(run)[0]
    if is_concluded(run) or Owner.from_json(opening["owner"]) != airflow_owner(dag_run):
        return
    tear_down(root, why)
    _end(run, "failed", f"{why}: {what_is_left(run)}.", finished=False)


def conclude(root: str, stopped: str = "") -> None:
    """End the run in its journal and give the host back. StudyError if anything failed.

    A run with steps left (`stopped` says why), or with something still standing, has failed but is not
    finished: it can be gone on with. After a failed tear-down the host goes to another study only once
    no process of this run is left on it.
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
            f"{len(bad)} of the run's parts did not end well: {'; '.join(bad)}.",
            str(run.root),
            "see the logs; a failed trial is not repeated in its run, a new run repeats it.",
        )
    log.info("all %d steps of run %s ended well", len(run.plan.steps), run.root)


def _end(run: Run, outcome: Literal["ok", "failed"], message: str, *, finished: bool) -> None:
    """Unless the journal already says so: Airflow's Clear may conclude a run twice."""
    ends = [entry for entry in since_opening(run) if entry["event"] == "run-ended"]
    now = {"outcome": outcome, "message": message, "finished": finished}
    if not ends or {key: ends[-1].get(key) for key in now} != now:
        end_run(run, outcome, message, finished=finished)


def _check_can_end(run: Run, stopped: str) -> None:
    if left := what_is_left(run):
        raise StudyError(
            f"{stopped}: {left}." if stopped else f"{left}.",
            str(run.root),
            "run the study again: it goes on where this run stopped.",
        )
    if fault := _tear_down_fault(run):
        raise TearDownError(
            f"not everything of the run is gone: {fault}.",
            str(run.root),
            "remove what is named, then study reap.",
        )


def failures(run: Run) -> list[str]:
    """What did not end well, with the reason: trials by their records, which outlive a re-opening;
    builds, tear-down and analysis by what the journal says since the run was last opened."""
    return [*_failed_acts(run), *_bad_trials(run)]


def _bad_trials(run: Run) -> Iterator[str]:
    """A line for each reason, with the trials it kept from being complete."""
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
    """Only what is journalled as done well counts as done: a killed process says nothing."""
    entries = since_opening(run)
    for entry in entries:
        if entry["event"] == "step-ended" and entry["outcome"] == "failed" and not entry["trial"]:
            yield f"{entry['kind']} {entry['build']}: {entry['message']}"
    if fault := _tear_down_fault(run):
        yield f"tear-down: {fault}"
    if not any(e["event"] == "analysis-ended" and e["stage"] == "report" for e in entries):
        yield "analysis: it did not come to its end, so there is no report"


def _tear_down_fault(run: Run) -> str:
    """Why the run's last tear-down proves nothing; empty if it does."""
    guards = [entry for entry in since_opening(run) if entry["event"] == "tear-down"]
    if not guards:
        return "it did not come to its end"
    return "" if guards[-1]["outcome"] == "ok" else str(guards[-1]["message"])


def is_concluded(run: Run) -> bool:
    """Whether the run came to its end since it was last opened."""
    return any(entry["event"] == "run-ended" for entry in since_opening(run))


def since_opening(run: Run) -> list[dict[str, Any]]:
    """The journal from the last opening of the run on."""
    entries = list(run.journal.read())
    openings = [n for n, entry in enumerate(entries) if entry["event"] == "run-opened"]
    return entries[openings[-1] :] if openings else entries


def airflow_owner(dag_run: str) -> Owner:
    """Who outlives the tasks of a DAG run: the scheduler that `make airflow` started, which says so in
    the environment of all it starts; under any other Airflow, the DAG run itself."""
    scheduler = os.environ.get(SCHEDULER_PID)
    return Owner.of_process(int(scheduler)) if scheduler else Owner.of_dag_run(dag_run)


def _absolute(path: str) -> Path:
    """A relative path means the project's folder: a scheduler's own is no one's business."""
    return project_root() / path
