"""`RunState`: whether a run is running, has ended, or lost its owner."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Literal

from density_study.cluster.model.errors import HostBusyError
from density_study.cluster.state import presence
from density_study.cluster.state.events import (
    Event,
    OwnerDeclaredDead,
    RunEnded,
    RunOpened,
    kept_in,
)
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.owner import Owner, State, here, judge

ONE_STUDY = "one study at a time on a host"
_IN_WORDS = {"alive": "running", "dead": "interrupted", "unknown": "unknown"}


@dataclass(frozen=True)
class RunState:
    """The last opening of a run, and its state since.

    `state`: "ended" if the journal records the end, else the state of the owner. `owner` is None if the
    journal does not name one. `outcome` is that of an ended run.
    """

    tag: str
    owner: Owner | None
    state: State | Literal["ended"]
    opened_t: float
    silent_s: float | None
    outcome: Literal["ok", "failed"] | None = None

    @property
    def in_words(self) -> str:
        """running, interrupted (the owner died before the run ended), unknown (the owner cannot be checked
        from here), ok or failed."""
        return self.outcome or _IN_WORDS[self.state]

    @property
    def silence(self) -> str:
        """How long the owner has been silent, as a clause."""
        if self.silent_s is None:
            return "its last sign of life is unknown"
        return f"it has been silent for {self.silent_s:.0f} s"

    @property
    def owner_name(self) -> str:
        return self.owner.name if self.owner else "unknown"


def run_state(root: Path, lock_free: bool | None) -> RunState | None:
    """The state of the run in `root` by its journal; None if it was never opened.

    lock_free: as for `cluster.state.owner.judge`; True if only the caller holds the lock.
    """
    journal = Journal(root / JOURNAL)
    opening = journal.last(RunOpened)
    if opening is None:
        return None
    owner = opening.owner
    silent_s = presence.silent_s(root)
    declared_dead = bool(journal.since_opening(OwnerDeclaredDead))
    state: State | Literal["ended"] = "unknown"
    ends = journal.since_opening(RunEnded)
    if ends:
        state = "ended"
    elif owner is not None:
        # The declaration is a fresh line of the journal, but not a sign that the owner lives.
        state = judge(owner, lock_free, float("inf") if declared_dead else silent_s)
    if state == "unknown" and declared_dead:
        state = "dead"
    outcome = ends[-1].outcome if ends else None
    return RunState(opening.tag, owner, state, opening.t, silent_s, outcome)


def busy(root: Path, found: RunState) -> HostBusyError:
    """The error for a run in `root` that is running, or may be as far as can be known from here."""
    study, _, run = found.tag.partition("/")
    kept = kept_in(Journal(root / JOURNAL).events(Event))
    if kept and found.state == "alive":
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(kept.until))
        return HostBusyError(
            f"the cluster {found.tag}/{kept.build} is kept until {until}.",
            ONE_STUDY,
            "take it down: study down.",
        )
    if found.state == "alive":
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found.opened_t))
        return HostBusyError(
            f"study {study!r} is running (run {run}, owner {found.owner_name}, since {since}).",
            ONE_STUDY,
            f"wait until it ends, or stop it: {_how_to_stop(found.owner)}.",
        )
    there = (root / JOURNAL).exists()
    force = ("--force", found.owner_name)
    reap = how_to_reap(root, *force) if there else join(("study", "reap", *force))
    lost = "" if there else f" {root} has no journal of it."
    return HostBusyError(
        f"study {study!r} may be running (run {run}): its owner {found.owner_name} cannot be seen "
        f"from here, and {found.silence}.{lost}",
        ONE_STUDY,
        f"find that owner; if you are sure that it is dead, run: {reap}.",
    )


def how_to_reap(root: Path, *options: str) -> str:
    """The command that removes what the run in `root` left, from any folder."""
    return join(("study", "reap", "--runs", str(root.absolute().parents[1]), *options))


def _how_to_stop(owner: Owner | None) -> str:
    if owner is None or owner.pid is None:
        return "mark it failed in Airflow"
    if owner.place == here():
        return f"kill {owner.pid}"
    return (
        f"end process {owner.pid} of PID namespace {owner.place.pid_namespace} "
        f"on host {owner.place.host}"
    )
