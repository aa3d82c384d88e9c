"""`RunState`: whether a run is being carried out, has ended, or was left by a dead owner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cluster.model.errors import HostBusyError
from cluster.state import presence
from cluster.state.owner import Owner, State, here, judge

ONE_STUDY = "one study at a time on a host"
DECLARED_DEAD = "owner-declared-dead"
"""The event that `study reap --force` journals: a person knows what cannot be seen from here."""


@dataclass(frozen=True)
class RunState:
    """The last opening of a run, and what became of it.

    `state`: "ended" if the journal says so, else what is known of the owner. `owner` is None if the
    journal names none that this version can read.
    """

    tag: str
    owner: Owner | None
    state: State | Literal["ended"]
    opened_t: float
    silent_s: float

    @property
    def owner_name(self) -> str:
        return self.owner.name if self.owner else "unknown"


def run_state(
    root: Path, entries: Sequence[dict[str, Any]], lock_free: bool | None
) -> RunState | None:
    """The state of the run in `root` with the journal `entries`; None if it was never opened.

    lock_free: as for `cluster.state.owner.judge`; who holds the lock alone passes True.
    """
    opened = [number for number, entry in enumerate(entries) if entry["event"] == "run-opened"]
    if not opened:
        return None
    opening = entries[opened[-1]]
    owner = Owner.from_json(opening["owner"]) if "owner" in opening else None
    silent_s = presence.silent_s(root)
    events = {entry["event"] for entry in entries[opened[-1] :]}
    declared_dead = DECLARED_DEAD in events
    state: State | Literal["ended"] = "unknown"
    if "run-ended" in events:
        state = "ended"
    elif owner is not None:
        # The declaration is itself a fresh line of the journal, and no sign of the owner's life.
        state = judge(owner, lock_free, float("inf") if declared_dead else silent_s)
    if state == "unknown" and declared_dead:
        state = "dead"
    return RunState(opening["tag"], owner, state, opening["t"], silent_s)


def busy(root: Path, found: RunState) -> HostBusyError:
    """That the run in `root` is being carried out, or that nobody here can know."""
    study, _, run = found.tag.partition("/")
    if found.state == "alive":
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found.opened_t))
        return HostBusyError(
            f"study {study!r} is running (run {run}, owner {found.owner_name}, since {since}).",
            ONE_STUDY,
            f"wait until it has ended, or stop it: {_how_to_stop(found.owner)}.",
        )
    return HostBusyError(
        f"study {study!r} may be running (run {run}): its owner {found.owner_name} cannot be seen "
        f"from here, and has been silent for {found.silent_s:.0f} s.",
        ONE_STUDY,
        f"look for that owner; if you know that it is dead: "
        f"study reap --runs {root.parents[1]} --force {found.owner_name}.",
    )


def _how_to_stop(owner: Owner | None) -> str:
    if owner is None or owner.pid is None:
        return "mark it failed in Airflow"
    if owner.place == here():
        return f"kill {owner.pid}"
    return (
        f"end process {owner.pid} of PID namespace {owner.place.pid_namespace} "
        f"on host {owner.place.host}"
    )
