"""Reap: remove what ended runs left behind, and prove it gone.

A run is taken for ended when it says so in its journal, or when its owner is dead. Everything else,
a live run's things and foreign processes above all, is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import lease
from cluster.cluster import Site
from cluster.errors import StudyError, TearDownError
from cluster.journal import Journal
from cluster.local.transport import stop_all
from cluster.marks import is_below, marked, start_ticks
from cluster.teardown import give_back, remains_of, tear_down

GRACE_S = 5.0

OnRun = Callable[[Path, bool], tuple[str, ...]]


@dataclass(frozen=True)
class Reaped:
    """One run, and what was removed of it (`dry_run`: what would be)."""

    mark: str
    root: Path
    removed: tuple[str, ...]
    dry_run: bool

    def __str__(self) -> str:
        done = "would remove" if self.dry_run else "removed"
        return f"{self.mark}: {done} {', '.join(self.removed)}"


def reap(runs: Path, dry_run: bool = False, on_run: OnRun | None = None) -> list[Reaped]:
    """Take down whatever runs below `runs` left; those with nothing left are not listed.

    `on_run(root, dry_run)` does the same for what only callers know of, as records left open, and
    says in words what it did. TearDownError if something cannot be removed.
    """
    found, failures = [], []
    for journal_path in sorted(runs.absolute().glob("*/*/journal.jsonl")):
        left = _Left.of(journal_path)
        if left is None:
            continue
        try:
            removed = left.described()
            if not dry_run:
                left.remove()
        except StudyError as error:  # of one run; the others' things go all the same
            failures.append(str(error))
            continue
        removed += on_run(left.root, dry_run) if on_run else ()
        if removed:
            found.append(Reaped(left.mark, left.root, removed, dry_run))
    if failures:
        raise TearDownError(
            f"{len(failures)} run(s) could not be cleared: {'; '.join(failures)}",
            str(runs),
            "mend what is named, and run `study reap` again.",
        )
    return found


def clear(root: Path) -> None:
    """Take down whatever the ended run in `root` left, before it is gone on with. Its lease stays:
    who calls holds it. TearDownError if something cannot be removed."""
    left = _Left.of(root / "journal.jsonl")
    if left is not None:
        left.clear()


@dataclass(frozen=True)
class _Left:
    """A run that no longer runs, and its builds."""

    mark: str
    root: Path
    journal: Journal
    sites: tuple[Site, ...]

    @classmethod
    def of(cls, journal_path: Path) -> _Left | None:
        """None for a run that still runs, or never began, or is seen through a link to it."""
        root = journal_path.parent
        journal = Journal(journal_path)
        entries = list(journal.read())
        openings = [entry for entry in entries if entry["event"] == "run-opened"]
        if root.is_symlink() or not openings or _runs(entries, openings[-1]):
            return None
        mark = openings[-1]["mark"]
        return cls(mark, root, journal, tuple(_sites(root, mark, entries)))

    def described(self) -> tuple[str, ...]:
        """What is there now: processes, directories, the lease."""
        processes = tuple(
            f"process {p.pid} ({p.name} on {p.node or '-'})" for p in marked(self.mark)
        )
        there = tuple(one for site in self.sites for one in remains_of(site, self.journal).all)
        return (*dict.fromkeys((*processes, *there)), *self._held_lease())

    def remove(self) -> None:
        self.clear()
        give_back(self.mark, self.journal)
        lease.release(self.mark)

    def clear(self) -> None:
        # What carries the run out is among them; what it still starts, tear-down finds.
        stop_all(marked(self.mark), GRACE_S)
        for site in self.sites:
            tear_down(site, self.journal)

    def _held_lease(self) -> tuple[str, ...]:
        held = lease.holder()
        return ("the host's lease",) if held is not None and held.mark == self.mark else ()


def _runs(entries: list[dict[str, Any]], opening: dict[str, Any]) -> bool:
    ended = any(e["event"] == "run-ended" for e in entries[entries.index(opening) :])
    return not ended and start_ticks(opening["owner_pid"]) == opening["owner_start_ticks"]


def _sites(root: Path, mark: str, entries: list[dict[str, Any]]) -> Iterator[Site]:
    """Every build that was ever intended; its journal says so before anything of it exists."""
    builds = {
        (entry["build"], entry["mark"])
        for entry in entries
        if entry["event"] == "intent" and entry.get("act") == "build"
    }
    for build, theirs in sorted(builds):
        if is_below(theirs, mark):
            yield Site(root / "builds" / build, theirs)
