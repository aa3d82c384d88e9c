"""`Lease`: one study at a time on this host, whatever number of processes carries it out.

Airflow runs the tasks of one run in different processes, so a lease belongs to a run (its mark) and
lasts as long as one owner process lives; no file descriptor has to stay open. A lease whose owner is
dead is stale: anybody may take it, once nothing of that run is left running.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster import atomic
from cluster.errors import HostBusyError, InputError, StudyError
from cluster.marks import marked, start_ticks
from cluster.runtime import runtime_dir

FORMAT = 1


@dataclass(frozen=True)
class Lease:
    """Who holds this host. `mark` is "<study>/<run>"; `since` is in epoch seconds."""

    mark: str
    owner_pid: int
    owner_start_ticks: int
    since: float

    @property
    def is_live(self) -> bool:
        return start_ticks(self.owner_pid) == self.owner_start_ticks


def acquire(mark: str, owner_pid: int) -> Lease:
    """Take this host for the run `mark`, for as long as the process `owner_pid` lives.

    Again for the same run and owner it changes nothing. InputError that names the first study if
    another run, or the same run under another living owner, holds the host.
    """
    owner_start_ticks = start_ticks(owner_pid)
    if owner_start_ticks is None:
        raise StudyError(
            f"process {owner_pid} is gone.", "host lease", "give a living process as the owner."
        )
    with _locked() as path:
        held = _read(path)
        if held is not None and held.is_live and _is(held, mark, owner_pid):
            return held
        if held is not None:
            _check_free(held, mark, owner_pid)
        lease = Lease(mark, owner_pid, owner_start_ticks, time.time())
        atomic.write_text(path, json.dumps({"format": FORMAT, **asdict(lease)}) + "\n")
        return lease


def release(mark: str) -> bool:
    """Give the host back; whether `mark` had held it. What another run holds is left alone."""
    with _locked() as path:
        held = _read(path)
        if held is None or held.mark != mark:
            return False
        path.unlink()
        return True


def holder() -> Lease | None:
    """The lease on this host, live or stale; None if nobody has it."""
    with _locked() as path:
        return _read(path)


def _is(held: Lease, mark: str, owner_pid: int) -> bool:
    return held.mark == mark and held.owner_pid == owner_pid


def _check_free(held: Lease, mark: str, owner_pid: int) -> None:
    study, _, run = held.mark.partition("/")
    # One owner carries out one run at a time: its own earlier one was stopped, and never ended.
    if held.is_live and not (held.owner_pid == owner_pid and held.mark != mark):
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(held.since))
        raise HostBusyError(
            f"study {study!r} is running on this host (run {run}, process {held.owner_pid}, "
            f"since {since}).",
            "one study at a time on a host",
            f"wait until it has ended, or stop it: kill {held.owner_pid}.",
        )
    # Its own next opening may go on: it takes down what it left before it builds.
    if held.mark != mark and marked(held.mark):
        raise InputError(
            f"study {study!r} was killed and left processes running (run {run}).",
            "one study at a time on a host",
            "run `study reap`, which removes them.",
        )


@contextmanager
def _locked() -> Iterator[Path]:
    folder = runtime_dir()
    with (folder / "lease.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "lease.json"


def _read(path: Path) -> Lease | None:
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if entry.pop("format") != FORMAT:
        raise StudyError(
            f"lease of another format; this version reads {FORMAT}.",
            str(path),
            "end the other version's study, then remove the file.",
        )
    return Lease(**entry)
