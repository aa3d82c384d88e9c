"""Reap: remove what ended runs left behind, and prove it gone.

A run is over when its journal records its end, or when its owner is dead. Reap touches nothing else: not
live runs, not processes of others, and not runs whose owner's state cannot be determined from here.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.lifecycle.tear_down import leftovers_of, release_hosts, tear_down
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError, TearDownError
from density_study.cluster.state import lease, presence
from density_study.cluster.state.events import BuildDestroyed, Event, Intent, OwnerDeclaredDead
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.run_state import RunState, run_state
from density_study.cluster.state.tags import is_below, tagged

GRACE_S = 5.0

OnRun = Callable[[Path, bool], tuple[str, ...]]


@dataclass(frozen=True)
class Reaped:
    """A run, and what was removed (with `dry_run`: what would be)."""

    tag: str
    removed: tuple[str, ...]
    dry_run: bool

    def __str__(self) -> str:
        done = "would remove" if self.dry_run else "removed"
        return f"{self.tag}: {done} {', '.join(self.removed)}"


@dataclass(frozen=True)
class LeftAlone:
    """A run that may still be running, and why that is unknown."""

    tag: str
    why: str

    def __str__(self) -> str:
        return f"{self.tag}: left alone; {self.why}"


@dataclass(frozen=True)
class Swept:
    """The result of `reap`. Live runs, and runs with nothing left, are in neither list."""

    reaped: tuple[Reaped, ...]
    left_alone: tuple[LeftAlone, ...]


def reap(
    runs: Path, dry_run: bool = False, on_run: OnRun | None = None, dead: Container[str] = ()
) -> Swept:
    """Take down whatever the runs below `runs` left.

    `dead`: names of owners that the caller knows to be dead. `on_run(root, dry_run)` cleans up what only
    the caller knows of, such as open records, and returns what it did. TearDownError if something
    cannot be removed.
    """
    swept: list[Reaped | LeftAlone | None] = []
    failures: list[str] = []
    for root in run_folders(runs.absolute()):
        try:
            swept.append(_sweep(root, dry_run, on_run, dead))
        except StudyError as error:  # of one run; the others are still reaped
            failures.append(str(error))
    if failures:
        raise TearDownError(
            f"{len(failures)} run(s) could not be reaped: {'; '.join(failures)}",
            str(runs),
            "fix each problem above, then run `study reap` again.",
        )
    return Swept(
        tuple(result for result in swept if isinstance(result, Reaped)),
        tuple(result for result in swept if isinstance(result, LeftAlone)),
    )


def clear(root: Path) -> None:
    """Take down whatever the run in `root` left, before it is resumed. Its lease stays.

    The caller holds the run's lock alone and has made sure that its owner is not alive.
    TearDownError if something cannot be removed.
    """
    state = run_state(root, lock_free=True)
    if state is not None:
        _clear(root, state.tag)


def not_proved_gone(root: Path, tag: str) -> tuple[str, ...]:
    """What of an ended run still exists here, or may exist elsewhere: its processes, its lease, and
    whatever is found of a build whose removal the journal does not prove. Changes nothing.

    StudyError if a host with such a build does not answer.
    """
    journal, held = Journal(root / JOURNAL), lease.holder()
    proved: dict[str, bool] = {}
    for event in journal.events(Event):
        if isinstance(event, BuildDestroyed):
            proved[event.tag] = True
        elif isinstance(event, Intent) and event.act == "build":
            proved[event.tag] = False
    found = [str(process) for process in tagged(tag)]
    for site in _sites(root, tag, journal):
        if not proved.get(site.tag, False):
            found += leftovers_of(site, journal)
    if held is not None and held.tag == tag:
        found.append("the host's lease")
    return tuple(dict.fromkeys(found))


def _sweep(
    root: Path, dry_run: bool, on_run: OnRun | None, dead: Container[str]
) -> Reaped | LeftAlone | None:
    """None if the run is alive, was never opened, or left nothing."""
    if _is_alive(run_state(root, presence.is_free(root))):
        return None  # a quick test without the lock, so that reap does not wait for a live run
    with _held_still(root, dry_run) as locked:
        found = run_state(root, lock_free=locked)
        if found is None or _is_alive(found):
            return None
        if why := _doubt(root, found, locked, dead):
            return LeftAlone(found.tag, why)
        removed = _describe(root, found.tag)
        if not dry_run:
            if found.state == "unknown":
                Journal(root / JOURNAL).record(OwnerDeclaredDead(owner=found.owner_name))
            _clear(root, found.tag)
            release_hosts(found.tag, Journal(root / JOURNAL))
            lease.release(found.tag)
        removed += on_run(root, dry_run) if on_run else ()
        return Reaped(found.tag, removed, dry_run) if removed else None


def _is_alive(found: RunState | None) -> bool:
    return found is None or found.state == "alive"


def _doubt(root: Path, found: RunState, locked: bool, dead: Container[str]) -> str:
    """Why the run may still be running; empty if it is over. `locked`: the caller alone holds its lock."""
    if not locked:
        over = "has ended" if found.state == "ended" else f"lost its owner {found.owner_name}"
        return f"it {over}, but {presence.why_not_alone(root)}."
    if found.state == "unknown" and found.owner_name not in dead:
        return (
            f"its owner {found.owner_name} cannot be seen from here, and {found.silence}. "
            "If you are sure that it is dead, run: "
            f"study reap --force {found.owner_name}"
        )
    return ""


def _held_still(root: Path, dry_run: bool) -> AbstractContextManager[bool]:
    """Keep other processes from opening the run meanwhile. A dry run writes no lock file."""
    if dry_run:
        return nullcontext(presence.is_free(root) is not False)
    return presence.alone(root)


def _describe(root: Path, tag: str) -> tuple[str, ...]:
    """What of the run exists now: processes, directories, the lease."""
    journal, held = Journal(root / JOURNAL), lease.holder()
    found = [str(process) for process in tagged(tag)]
    for site in _sites(root, tag, journal):
        found += leftovers_of(site, journal)
    if held is not None and held.tag == tag:
        found.append("the host's lease")
    return tuple(dict.fromkeys(found))


def _clear(root: Path, tag: str) -> None:
    journal = Journal(root / JOURNAL)
    # The run's own controller process is among them; tear-down finds what that still starts.
    stop_all(tagged(tag), GRACE_S)
    for site in _sites(root, tag, journal):
        tear_down(site, journal)


def _sites(root: Path, tag: str, journal: Journal) -> tuple[Site, ...]:
    """Every build of the run that was ever intended; the intent comes before anything of it exists."""
    builds = {(intent.build, intent.tag) for intent in journal.intents("build")}
    return tuple(
        Site(root / "builds" / build, build_tag)
        for build, build_tag in sorted(builds)
        if is_below(build_tag, tag)
    )
