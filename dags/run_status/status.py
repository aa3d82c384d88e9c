"""`study status`: what a run's folder says of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import InputError, StudyError
from cluster.state import presence
from cluster.state.events import Event
from cluster.state.run_folders import run_folders
from cluster.state.run_state import run_state
from dags.run_status.progress import Progress, progress
from dags.stages import study_stages
from workloads.execution.run import Run, load_run

_STATES = {"alive": "running", "dead": "interrupted", "unknown": "unknown"}


@dataclass(frozen=True)
class Status:
    """`state`: running, interrupted (its owner is dead and it has not ended), unknown (its owner cannot be
    judged from here), ok or failed. `owner` names who carries it out, `silent_s` counts from the last
    sign of life. `stopped`: it has failed with steps left, or with something left standing, and can be
    gone on with.
    """

    run: Run
    state: str
    owner: str
    silent_s: float
    progress: Progress
    failures: tuple[str, ...]

    @property
    def stopped(self) -> bool:
        return self.progress.outcome is not None and not self.progress.finished


def status_of(run: Run) -> Status:
    """The run's state now; elapsed time of an interrupted run ends with its last word."""
    events = run.journal.events(Event)
    found = run_state(run.root, presence.is_free(run.root))
    is_over = found is not None and found.state in ("dead", "ended")
    now = events[-1].t if is_over else time.time()
    seen = progress(run.plan, events, now)
    state = seen.outcome or _STATES[found.state if found else "dead"]
    return Status(
        run,
        state,
        found.owner_name if found else "",
        found.silent_s if found else 0.0,
        seen,
        tuple(_failures(run, seen)),
    )


def check_not_over(root: Path) -> None:
    """StudyError if the run in `root` has ended or lost its owner: no step of it is due."""
    found = status_of(load_run(root))
    if found.state not in ("running", "unknown"):
        raise StudyError(
            f"the run is over ({found.state}); Airflow's Clear does not repeat a part of a run.",
            str(root),
            "trigger the study again: it goes on with a run that was stopped, and measures anew one "
            f"that was not. The analysis alone: study report {root}",
        )


def find_run(named: Path | None, runs: Path) -> Run:
    """The named run, by folder or by id below `runs`; else the one opened last. InputError if none."""
    if named is not None:
        below = [folder for folder in run_folders(runs) if folder.name == str(named)]
        return load_run(below[-1] if below and not named.exists() else named)
    folders = run_folders(runs)
    if not folders:
        raise InputError("there is no run yet.", str(runs), "start one: study run SPEC.")
    return load_run(folders[-1])


def _failures(run: Run, seen: Progress) -> list[str]:
    if seen.finished:
        return study_stages.failures(run)
    stopped = [seen.message] if seen.message else []
    return stopped + ([_failed(seen)] if seen.failed else [])


def _failed(seen: Progress) -> str:
    return "; ".join(f"{ended.step.label}: {ended.message}" for ended in seen.failed)
