"""`Owner`: the process or DAG run that carries out a run, and whether it is still alive.

A process number is valid only in one PID namespace of one booted kernel. From anywhere else (another
container, another host that shares the runs folder) a live owner looks like a dead one. So an owner
records where it runs, and `judge` answers `unknown` where its state cannot be determined.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.tags import pid_inside, start_ticks

State = Literal["alive", "dead", "unknown"]

SILENT_AFTER_S = 60.0
"""A heartbeat older than this no longer shows that the owner is alive. Owners beat every 5 s."""
_INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""The inode of a kernel's first PID namespace, whose /proc also shows the processes of all others."""


@dataclass(frozen=True)
class Place:
    """Where a process number is valid: a PID namespace of one boot of a host's kernel."""

    host: str
    boot_id: str
    pid_namespace: int


@dataclass(frozen=True)
class Owner:
    """A process that lives as long as the run, or an Airflow DAG run (`pid` is None).

    `start_ticks` (clock ticks since boot) distinguishes it from a later process with the same number.
    `holds_lock`: the owner holds the run's lock for its whole life (see `cluster.state.presence`).
    """

    place: Place
    pid: int | None
    start_ticks: int | None
    holds_lock: bool = False
    dag_run: str = ""

    @classmethod
    def of_process(cls, pid: int, holds_lock: bool = False) -> Owner:
        """The living process `pid` of this PID namespace. StudyError if there is none."""
        ticks = start_ticks(pid)
        if ticks is None:
            raise StudyError(
                f"process {pid} does not exist.", "owner of the run", "name a running process."
            )
        return cls(here(), pid, ticks, holds_lock)

    @classmethod
    def of_dag_run(cls, dag_run: str) -> Owner:
        """An Airflow DAG run, whose tasks may run in any process on any worker."""
        return cls(here(), None, None, dag_run=dag_run)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Owner:
        return cls(**{**value, "place": Place(**value["place"])})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def name(self) -> str:
        """The owner's name in messages and for `study reap --force`."""
        if self.pid is None:
            return self.dag_run
        return f"{self.place.host}/{self.place.pid_namespace}/{self.pid}"


def here() -> Place:
    """This process's place. StudyError if /proc shows the processes of another PID namespace."""
    if Path("/proc/self").readlink().name != str(os.getpid()):
        raise StudyError(
            "it shows the processes of another PID namespace.",
            "/proc",
            "mount the namespace's own: unshare --pid --fork --mount-proc.",
        )
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return Place(socket.gethostname(), boot_id, Path("/proc/self/ns/pid").stat().st_ino)


def judge(owner: Owner, lock_free: bool | None, silent_s: float | None) -> State:
    """Whether `owner` is alive, as far as it can be known from here.

    lock_free: whether the run's lock is free; None if that cannot be determined from here.
    silent_s: seconds since the run's last heartbeat; None if that is unknown. Clocks differ between hosts
    and can be set, so mere silence never makes an owner dead.
    """
    at = here()
    if owner.pid is not None and owner.place == at:
        return "alive" if start_ticks(owner.pid) == owner.start_ticks else "dead"
    if lock_free is False or (silent_s is not None and silent_s < SILENT_AFTER_S):
        return "alive"
    if owner.pid is not None and _is_over(owner, at, lock_free):
        return "dead"
    return "unknown"


def _is_over(owner: Owner, at: Place, lock_free: bool | None) -> bool:
    """Evidence, besides silence, that a process in another PID namespace has ended."""
    if owner.place.boot_id == at.boot_id:  # same kernel: it releases the lock when the process ends
        return (owner.holds_lock and lock_free is True) or _is_nowhere(owner, at)
    return owner.place.host == at.host  # this host has been rebooted since


def _is_nowhere(owner: Owner, at: Place) -> bool:
    """Whether no PID namespace of this kernel has the process. False where /proc does not show all of them:
    in another namespace than the first, or where it hides the processes of other users."""
    if at.pid_namespace != _INITIAL_PID_NAMESPACE or start_ticks(1) is None:
        return False
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    return not any(_may_be(pid, owner) for pid in pids)


def _may_be(pid: int, owner: Owner) -> bool:
    """Whether the process that is `pid` here is the owner, as far as this user can see."""
    ticks = start_ticks(pid)
    if ticks is None or pid_inside(pid) != owner.pid:
        return False
    try:
        namespace = Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        namespace = owner.place.pid_namespace  # another user's is unknown: perhaps the same
    return ticks == owner.start_ticks or namespace == owner.place.pid_namespace
