"""`study status`: the state of a run, from its folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.simulated import SIMULATED
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state import presence
from density_study.cluster.state.events import Event
from density_study.cluster.state.journal import events_among, run_folders
from density_study.cluster.state.run_state import run_state
from density_study.dags.run_status.progress import Progress, progress
from density_study.dags.stages.conclusion import failures
from density_study.workloads.execution.run import Run, import_of, load_run
from density_study.workloads.ycsb.copies.not_copied import uncopied_words

_REHEARSAL = f"{SIMULATED}: this is a rehearsal, nothing was measured"


@dataclass(frozen=True)
class Status:
    """`state`: running, interrupted (the owner died before the run ended), unknown (the owner cannot be
    checked from this machine), ok or failed. `owner` names the executing process, `silent_s` is the time
    since its last sign of life, None if that is unknown. `stopped`: the run failed with steps or leftovers.
    `notes`: what goes on otherwise than planned, without harm to the numbers; and that
    it is a rehearsal.
    """

    run: Run
    state: str
    owner: str
    silent_s: float | None
    progress: Progress
    failures: Sequence[str]
    notes: Sequence[str] = ()

    @property
    def stopped(self) -> bool:
        return self.progress.outcome is not None and not self.progress.finished

    @property
    def is_rehearsal(self) -> bool:
        """It is not resumed, but made anew."""
        return is_rehearsal(self.run.root)

    def facts(self) -> dict[str, object]:
        """The status as plain values, for other programs. Times are in seconds; `step` counts from 1."""
        seen = self.progress
        return {
            "study": seen.study,
            "run": seen.run,
            "folder": self.run.root.absolute(),
            "state": self.state,
            "can_resume": (self.stopped or self.state == "interrupted") and not self.is_rehearsal,
            "step": seen.position,
            "steps": seen.total,
            "now": seen.current.label if seen.current else seen.stage,
            "elapsed_s": seen.elapsed_s,
            "remaining_s": seen.remaining_s,
            "owner": self.owner,
            "silent_s": self.silent_s,
            "failures": self.failures,
            "notes": self.notes,
        }


def status_of(run: Run) -> Status:
    """The current state. The elapsed time of an interrupted run ends with its last journal event."""
    events = run.journal.events(Event)
    found = run_state(run.root, presence.is_free(run.root))
    is_over = found is not None and found.state in ("dead", "ended")
    now = events[-1].t if is_over else time.time()
    seen = progress(run.plan, events, now)
    state = found.in_words if found else "interrupted"
    return Status(
        run,
        state,
        found.owner_name if found else "",
        found.silent_s if found else None,
        seen,
        _failures(run, seen),
        (*((_REHEARSAL,) if is_rehearsal(run.root) else ()), *uncopied_words(events)),
    )


def check_not_over(root: Path) -> None:
    """StudyError if the run in `root` has ended or lost its owner, so that no step may run."""
    found = status_of(load_run(root))
    if found.state not in ("running", "unknown"):
        raise StudyError(
            f"the run is not open ({found.state}).",
            str(root),
            "clear a trial or the group of a build, which opens it again; or trigger the study again.",
        )


def find_run(named: Path | None, runs: Path) -> Run:
    """The named run, by folder, or by id or study below `runs`; else the newest that was not imported.
    InputError if none."""
    if named is not None:
        return load_run(_named(named, runs))
    own = (folder for folder in _readable(runs) if import_of(folder) is None)
    return load_run(_newest(own, runs))


def find_root(named: Path | None, runs: Path) -> Path:
    """The folder of the named run, as in `find_run`, or of the newest. It may be an imported one."""
    root = _newest(_readable(runs), runs) if named is None else _named(named, runs)
    return root.absolute() if import_of(root) else load_run(root).root


def _named(named: Path, runs: Path) -> Path:
    """A folder as it is; otherwise the run with this id, or the newest run of the study with this name.
    InputError if there is none."""
    found = named if named.exists() else by_name(str(named), run_folders(runs))
    if found is None:
        raise unnamed(named)
    return found


def unnamed(named: Path) -> InputError:
    """The error for a name that no run has."""
    return InputError(
        "this is not the folder or the id of a run, or a study with runs.",
        str(named),
        "`study list` lists the runs.",
    )


def by_name(name: str, folders: Sequence[Path]) -> Path | None:
    """The run with this id, or the newest of the study with this name. folders: oldest first."""
    of_id = [folder for folder in folders if folder.name == name]
    of_study = [folder for folder in folders if folder.parent.name == name]
    return next(reversed(of_id or of_study), None)


def _readable(runs: Path) -> Iterator[Path]:
    """The newest first. A warning names those that are passed over because their journal is damaged."""
    return (folder for folder in reversed(run_folders(runs)) if events_among(folder, Event))


def _newest(folders: Iterator[Path], runs: Path) -> Path:
    newest = next(folders, None)
    if newest is None:
        raise InputError(
            "the folder contains no runs.",
            str(runs),
            "start one, for example with `study run quickstart`.",
        )
    return newest


def _failures(run: Run, seen: Progress) -> list[str]:
    if seen.finished:
        at_its_end = [f"when it ended: {seen.message}"] if seen.message else []
        return failures(run) or at_its_end  # `study report` may have repeated the analysis since
    failed = "; ".join(f"{ended.step.label}: {ended.message}" for ended in seen.failed)
    return [text for text in (seen.message, failed) if text]
