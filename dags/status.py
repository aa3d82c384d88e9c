"""`study status`: what a run's folder says of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.errors import InputError
from cluster.marks import start_ticks
from dags import stages
from dags.progress import Progress, progress
from workloads.run import Run, load_run


@dataclass(frozen=True)
class Status:
    """`state`: running, interrupted (its owner is gone and it has not ended), ok or failed."""

    run: Run
    state: str
    progress: Progress
    failures: tuple[str, ...]


def status_of(run: Run) -> Status:
    """The run's state now; elapsed time of an interrupted run ends with its last word."""
    entries = list(run.journal.read())
    alive = _owner_is_alive(entries)
    now = time.time() if alive or not entries else entries[-1]["t"]
    seen = progress(run.plan, entries, now)
    state = seen.outcome or ("running" if alive else "interrupted")
    failures = stages.failures(run) if seen.outcome else [_failed(seen)] if seen.failed else []
    return Status(run, state, seen, tuple(failures))


def find_run(named: Path | None, runs: Path) -> Run:
    """The named run, by folder or by id below `runs`; else the one opened last. InputError if none."""
    if named is not None:
        below = sorted(runs.glob(f"*/{named}")) if len(named.parts) == 1 else []
        return load_run(below[-1] if below and not named.exists() else named)
    plans = sorted(runs.glob("*/*/plan.json"), key=lambda plan: plan.parent.name)
    if not plans:
        raise InputError("there is no run yet.", str(runs), "start one: study run SPEC.")
    return load_run(plans[-1].parent)


def _failed(seen: Progress) -> str:
    return "; ".join(f"{ended.step.label}: {ended.message}" for ended in seen.failed)


def _owner_is_alive(entries: list[dict[str, Any]]) -> bool:
    openings = [entry for entry in entries if entry["event"] == "run-opened"]
    if not openings:
        return False
    owner = openings[-1]
    return bool(start_ticks(owner["owner_pid"]) == owner["owner_start_ticks"])
