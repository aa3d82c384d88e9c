"""Reap: remove what this user's ended runs left behind, and prove it gone.

A run is over when its journal records its end, or when its owner is dead. Reap touches nothing else: not
live runs, not processes of others, not runs whose owner's state cannot be determined from here, and not runs
that this user has not opened (see `cluster.state.own_runs`). What the journal of an ended run proves to be
gone is not looked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote

from density_study.cluster.lifecycle.own_acts import check_acts
from density_study.cluster.lifecycle.tear_down import leftovers_of, release_hosts, tear_down
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError, TearDownError, do_all
from density_study.cluster.model.plain import counted, one_line
from density_study.cluster.state import lease, own_runs, presence
from density_study.cluster.state.events import (
    BuildDestroyed,
    Event,
    Intent,
    OwnerDeclaredDead,
    RunEnded,
    RunReaped,
)
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.run_state import RunState, run_state
from density_study.cluster.state.tags import all_tagged, is_below, tagged

GRACE_S = 5.0

OnRun = Callable[[Path, bool], tuple[str, ...]]


@dataclass(frozen=True)
class Reaped:
    """A run, or killed processes, and what was removed (with `dry_run`: what would be)."""

    tag: str
    removed: tuple[str, ...]
    dry_run: bool

    def __str__(self) -> str:
        done = "would remove" if self.dry_run else "removed"
        return f"{self.tag}: {done} {', '.join(self.removed)}"


@dataclass(frozen=True)
class LeftAlone:
    """A run that may still be running, or that is not this user's own, and why that is so."""

    tag: str
    why: str

    def __str__(self) -> str:
        return one_line(f"{self.tag}: left alone; {self.why}")


@dataclass(frozen=True)
class Failed:
    """A run of this user's that could not be reaped, and why."""

    tag: str
    why: str

    def __str__(self) -> str:
        return one_line(f"{self.tag}: failed; {self.why}")


@dataclass(frozen=True)
class Swept:
    """The result of `reap`. Live runs, and runs with nothing left, are in no list. abandoned: what killed
    processes had left outside of builds."""

    reaped: tuple[Reaped, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    failed: tuple[Failed, ...] = ()
    abandoned: tuple[Reaped, ...] = ()

    def check(self) -> None:
        """TearDownError if a run could not be reaped."""
        if self.failed:
            raise TearDownError(
                f"{counted(len(self.failed), 'run')} could not be reaped: {'; '.join(map(str, self.failed))}",
                "study reap",
                "fix each problem above, then run `study reap` again.",
            )


def reap(
    runs: Path, dry_run: bool = False, on_run: OnRun | None = None, dead: Container[str] = ()
) -> Swept:
    """Take down whatever this user's runs below `runs` left. The fault of one run never stops the others.

    `dead`: names of owners that the caller knows to be dead. `on_run(root, dry_run)` cleans up what only
    the caller knows of, such as open records, and returns what it did. InputError if the registry of the
    user's runs cannot be used.
    """
    swept = [_guarded(root, dry_run, on_run, dead) for root in run_folders(runs.absolute())]
    swept += _without_folders(own_runs.deleted(runs.absolute()))
    return Swept(
        tuple(one for one in swept if isinstance(one, Reaped)),
        tuple(one for one in swept if isinstance(one, LeftAlone)),
        tuple(one for one in swept if isinstance(one, Failed)),
    )


def clear(root: Path) -> None:
    """Take down whatever the run in `root` left, before it is resumed. Its lease stays.

    Only the caller holds the run's lock, and it has made sure that its owner is not alive. InputError if the
    run is not this user's own, TearDownError if something cannot be removed.
    """
    own_runs.require_own(root)
    state = run_state(root, lock_free=True)
    if state is not None:
        _check_own(root, state.tag)
        _clear(root, state.tag)


def claim(root: Path) -> None:
    """Make the run in `root` this user's own, if its entry in the registry was lost. StudyError if its folder
    or its journal shows that it is another's."""
    state = run_state(root, presence.is_free(root))
    if state is not None:
        _check_own(root, state.tag)
    own_runs.claim(root)


def not_proved_gone(root: Path) -> tuple[str, ...]:
    """What of an ended run of this user's still exists here, or may exist elsewhere: its processes, its
    lease, and whatever is found of a build whose removal the journal does not prove. Changes nothing.

    StudyError if a host with such a build does not answer, or if others may have changed the run.
    """
    tag, journal = own_runs.tag_of(root), Journal(root / JOURNAL)
    if _standing(root, journal):
        own_runs.require_own(root)
        check_acts(root, tag, journal)
    return _describe(root, tag)


def _guarded(
    root: Path, dry_run: bool, on_run: OnRun | None, dead: Container[str]
) -> Reaped | LeftAlone | Failed | None:
    tag = own_runs.tag_of(root)
    if not (is_own := own_runs.is_registered(root)):
        on_run = None
    try:
        if why := own_runs.stranger(root):
            return LeftAlone(tag, why)
        return _sweep(root, tag, dry_run, on_run, dead) if is_own else _foreign(root, tag)
    except StudyError as error:
        why = str(error)
    except Exception as error:  # whatever a damaged folder provokes: the others are still reaped
        why = f"{type(error).__name__}: {error}"
    return Failed(tag, why) if is_own else LeftAlone(tag, f"{own_runs.unregistered(root)} ({why})")


def _without_folders(roots: Sequence[Path]) -> Iterator[LeftAlone]:
    """Without its journal nothing shows whether a run has ended: a container with other mounts may run it."""
    # once: a user may have deleted hundreds of folders
    running = list(all_tagged()) if roots else []
    for root in roots:
        tag = own_runs.tag_of(root)
        pids = [str(process.pid) for process, theirs in running if is_below(theirs, tag)]
        if pids:
            why = f"its folder {root} was deleted or moved, and {len(pids)} of its processes still run"
            remedy = "If you have moved it, move it back and run `study reap`. Else: kill -9"
            yield LeftAlone(tag, f"{why}. {remedy} {' '.join(pids)}")


def _foreign(root: Path, tag: str) -> LeftAlone | None:
    """None for a live run, and for one of which nothing stands by its own words."""
    found = run_state(root, presence.is_free(root))
    if _is_alive(found) or not _standing(root, Journal(root / JOURNAL)):
        return None
    host = found.owner.place.host if found and found.owner else "a host that it does not name"
    return LeftAlone(tag, f"{own_runs.unregistered(root)}. It was opened on {host[:80]!r}")


def _sweep(
    root: Path, tag: str, dry_run: bool, on_run: OnRun | None, dead: Container[str]
) -> Reaped | LeftAlone | None:
    """None if the run is alive, was never opened, or left nothing."""
    journal = Journal(root / JOURNAL)
    if _is_alive(run_state(root, presence.is_free(root))):
        return None  # a quick test without the lock, so that reap does not wait for a live run
    if _is_settled(root, tag, journal) and not (on_run and on_run(root, True)):
        return None
    with _held_still(root, dry_run) as locked:
        found = run_state(root, lock_free=locked)
        if found is None or _is_alive(found):
            return None
        if why := _doubt(root, found, locked, dead) or own_runs.refusal(root):
            return LeftAlone(tag, why)
        _check_own(root, found.tag)
        removed: list[str] = []

        def end() -> None:
            if found.state == "unknown":
                journal.record(OwnerDeclaredDead(owner=found.owner_name))
            _clear(root, tag)
            do_all(lambda: release_hosts(tag, journal), lambda: lease.release(tag))

        # what cannot be described is removed all the same
        do_all(lambda: removed.extend(_describe(root, tag)), *(() if dry_run else (end,)))
        removed += on_run(root, dry_run) if on_run else ()
        if not dry_run:
            journal.record(RunReaped())
        return Reaped(tag, tuple(removed), dry_run) if removed else None


def _check_own(root: Path, tag: str) -> None:
    """StudyError if the journal is not of this run, or has acts that this run cannot have done."""
    if tag != own_runs.tag_of(root):
        raise StudyError(
            f"the journal is that of the run {tag[:80]!r}.",
            str(root / JOURNAL),
            "move the folder back to its place, runs/<study>/<run>.",
        )
    check_acts(root, tag, Journal(root / JOURNAL))


def _is_settled(root: Path, tag: str, journal: Journal) -> bool:
    """Whether the journal proves that everything is gone and its hosts are released, and nothing of the run
    is on this machine: then no host is queried."""
    if _standing(root, journal) or not journal.since_opening(RunEnded, RunReaped):
        return False
    return not _here(tag)


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
            f"study reap --force {quote(found.owner_name)}"
        )
    return ""


def _held_still(root: Path, dry_run: bool) -> AbstractContextManager[bool]:
    """Keep other processes from opening the run meanwhile. A dry run writes no lock file."""
    if dry_run:
        return nullcontext(presence.is_free(root) is not False)
    return presence.alone(root)


def _describe(root: Path, tag: str) -> tuple[str, ...]:
    """What of the run exists now: processes, directories, the lease."""
    journal = Journal(root / JOURNAL)
    found = list(_here(tag))
    for site in _standing(root, journal):
        found += leftovers_of(site, journal)
    return tuple(dict.fromkeys(found))


def _here(tag: str) -> tuple[str, ...]:
    """Processes and the lease on this machine."""
    held = lease.holder()
    is_held = held is not None and held.tag == tag
    return (*map(str, tagged(tag)), *(("the host's lease",) if is_held else ()))


def _clear(root: Path, tag: str) -> None:
    journal = Journal(root / JOURNAL)
    do_all(
        # The run's own controller process is among them; tear-down finds what that still starts.
        lambda: stop_all(tagged(tag), GRACE_S),
        *(partial(tear_down, site, journal) for site in _standing(root, journal)),
    )


def _standing(root: Path, journal: Journal) -> tuple[Site, ...]:
    """The builds that were intended, and whose removal was not proved since. The intent comes before anything
    of a build exists."""
    standing: dict[str, str] = {}
    for event in journal.events(Event):
        if isinstance(event, BuildDestroyed):
            standing.pop(event.tag, None)
        elif isinstance(event, Intent) and event.act == "build":
            standing[event.tag] = event.build
    return tuple(Site(root / "builds" / name, mark) for mark, name in sorted(standing.items()))
