"""`study list`: one row per run below a folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cluster.model.errors import StudyError
from cluster.state.events import StepEnded
from cluster.state.journal import run_folders
from dags.run_status.status import status_of
from workloads.execution.run import load_run

HEADER = ("study", "run", "state", "opened (UTC)", "trials done")


def listed(runs: Path) -> Iterator[tuple[str, ...]]:
    """One row per run, with the columns of `HEADER`, oldest first. Unreadable runs are listed too."""
    for folder in run_folders(runs):
        try:
            yield _row(folder)
        except (StudyError, OSError, ValueError, KeyError):
            yield folder.parent.name, folder.name, "unreadable", "-", "-"


def _row(folder: Path) -> tuple[str, ...]:
    status = status_of(load_run(folder))
    done = {ended.trial for ended in status.run.journal.events(StepEnded) if ended.trial}
    opened = datetime.fromtimestamp(status.progress.started_t, UTC).strftime("%Y-%m-%d %H:%M")
    trials = f"{len(done)} of {len(status.run.plan.trials)}"
    return status.run.study.study, folder.name, status.state, opened, trials
