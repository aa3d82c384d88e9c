"""Reap: remove what ended runs left behind, and prove it gone.

A run is over when its journal records its end, or when its owner is dead. Reap touches nothing else: not
live runs, not processes of others, and not runs whose owner's state cannot be determined from here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from cluster.lifecycle.tear_down import leftovers_of, release_hosts, tear_down
from cluster.machine.processes import stop_all
from cluster.model.cluster import Site
from cluster.model.errors import StudyError, TearDownError
from cluster.state import lease, presence
from cluster.state.events import OwnerDeclaredDead
from cluster.state.journal import Journal
from cluster.state.run_folders import JOURNAL, run_folders
from cluster.state.run_state import RunState, run_state
from cluster.state.tags import is_below, tagged

GRACE_S = 5.0

OnRun = Callable[[Path, bool], tuple[str, ...]]


@dataclass(frozen=True)
class Reaped:
    """A run, and what was removed (with `dry_run`: what would be)."""

    tag: str
    root: Path
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
    runs: Path, dry_run: bool = False, on_run: OnRun | None = None, force: str | None = None
) -> Swept:
    """Take down whatever the runs below `runs` left.

    `force` names an owner that the caller knows to be dead. `on_run(root, dry_run)` cleans up what only
    the caller knows of, such as open records, and returns what it did. TearDownError if something
    cannot be removed.
    """
    reaped: list[Reaped] = []
    left_alone: list[LeftAlone] = []
    failures: list[str] = []
    for root in run_folders(runs.absolute()):
        try:
            if _is_alive(root):
                continue
            with _held_still(root, dry_run) as locked:
                left = DeadRun.of(root, locked, force)
                if isinstance(left, LeftAlone):
                    left_alone.append(left)
                elif left is not None:
                    reaped += left.swept(dry_run, on_run)
        except StudyError as error:  # of one run; the others are still reaped
            failures.append(str(error))
    if failures:
        raise TearDownError(
            f"{len(failures)} run(s) could not be reaped: {'; '.join(failures)}",
            str(runs),
            "fix each problem above, then run `study reap` again.",
        )
    return Swept(tuple(reaped), tuple(left_alone))


def _is_alive(root: Path) -> bool:
    """A quick test without the lock, so that reap does not wait for a live run."""
    found = run_state(root, presence.is_free(root))
    return found is None or found.state == "alive"


def _held_still(root: Path, dry_run: bool) -> AbstractContextManager[bool]:
    """Keep other processes from opening the run meanwhile. A dry run writes no lock file."""
    if dry_run:
        return nullcontext(presence.is_free(root) is not False)
    return presence.alone(root)


def clear(root: Path) -> None:
    """Take down whatever the run in `root` left, before it is resumed. Its lease stays.

    The caller holds the run's lock alone and has made sure that its owner is not alive.
    TearDownError if something cannot be removed.
    """
    state = run_state(root, lock_free=True)
    if state is not None:
        DeadRun.from_state(root, state).clear()


@dataclass(frozen=True)
class DeadRun:
    """A run that is over, and its builds."""

    tag: str
    root: Path
    journal: Journal
    sites: tuple[Site, ...]
    declared_dead: str = ""

    @classmethod
    def of(cls, root: Path, locked: bool, force: str | None) -> DeadRun | LeftAlone | None:
        """None for a run that is alive or was never opened. `locked`: the caller alone holds its lock."""
        found = run_state(root, lock_free=locked)
        if found is None or found.state == "alive":
            return None
        if not locked:
            over = "has ended" if found.state == "ended" else f"lost its owner {found.owner_name}"
            why = f"it {over}, but a process is still working on it."
            return LeftAlone(found.tag, why)
        if found.state == "unknown" and found.owner_name != force:
            why = (
                f"its owner {found.owner_name} cannot be seen from here, and has been silent for "
                f"{found.silent_s:.0f} s. If you are sure that it is dead, run: "
                f"study reap --force {found.owner_name}"
            )
            return LeftAlone(found.tag, why)
        forced = found.owner_name if found.state == "unknown" else ""
        return cls.from_state(root, found, forced)

    @classmethod
    def from_state(cls, root: Path, state: RunState, declared_dead: str = "") -> DeadRun:
        journal = Journal(root / JOURNAL)
        return cls(state.tag, root, journal, _sites(root, state.tag, journal), declared_dead)

    def swept(self, dry_run: bool, on_run: OnRun | None) -> list[Reaped]:
        """Remove what the run left (with `dry_run`: only list it). Empty if there is nothing."""
        removed = self.described()
        if not dry_run:
            self.remove()
        removed += on_run(self.root, dry_run) if on_run else ()
        return [Reaped(self.tag, self.root, removed, dry_run)] if removed else []

    def described(self) -> tuple[str, ...]:
        """What exists now: processes, directories, the lease."""
        found = [str(process) for process in tagged(self.tag)]
        for site in self.sites:
            found += leftovers_of(site, self.journal)
        return (*dict.fromkeys(found), *self._held_lease())

    def remove(self) -> None:
        if self.declared_dead:
            self.journal.record(OwnerDeclaredDead(owner=self.declared_dead))
        self.clear()
        release_hosts(self.tag, self.journal)
        lease.release(self.tag)

    def clear(self) -> None:
        # The run's own controller process is among them; tear-down finds what that still starts.
        stop_all(tagged(self.tag), GRACE_S)
        for site in self.sites:
            tear_down(site, self.journal)

    def _held_lease(self) -> tuple[str, ...]:
        held = lease.holder()
        return ("the host's lease",) if held is not None and held.tag == self.tag else ()


def _sites(root: Path, tag: str, journal: Journal) -> tuple[Site, ...]:
    """Every build of the run that was ever intended; the intent comes before anything of it exists."""
    builds = {(intent.build, intent.tag) for intent in journal.intents("build")}
    return tuple(
        Site(root / "builds" / build, build_tag)
        for build, build_tag in sorted(builds)
        if is_below(build_tag, tag)
    )
