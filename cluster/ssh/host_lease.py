"""A host's lease, kept on the host: one run at a time, from whichever controller it comes.

Standard library only: runs on the host. Whether a holder on another machine still lives cannot be
known, so a lease expires; nobody may take it while a process of its run still runs there.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster import atomic
from cluster.marks import marked
from cluster.runtime import check_own

EXPIRES_S = 24 * 3600.0
"""After its last renewal; every build renews it."""


def take(work: str, lease: Mapping[str, Any]) -> dict[str, Any] | None:
    """Take or renew the host for `lease` (mark, controller, pid, start_ticks, and `stale`: a holder
    known to be dead). None if it is ours now, else who holds it."""
    with _locked(work) as path:
        held = _read(path)
        if held is not None and held["mark"] != lease["mark"]:
            dead = held["mark"] == lease.get("stale") or held["expires"] < time.time()
            if not dead or marked(held["mark"]):
                return {**held, "running": len(marked(held["mark"]))}
        fields = {key: value for key, value in lease.items() if key != "stale"}
        now = time.time()
        ours = {"format": 1, **fields, "since": now, "expires": now + EXPIRES_S}
        atomic.write_text(path, json.dumps(ours) + "\n")
        return None


def release(work: str, lease: Mapping[str, Any]) -> bool:
    """Give the host back; whether the mark had held it."""
    with _locked(work) as path:
        held = _read(path)
        if held is None or held["mark"] != lease["mark"]:
            return False
        path.unlink()
        return True


def holder(work: str) -> dict[str, Any] | None:
    with _locked(work) as path:
        return _read(path)


@contextmanager
def _locked(work: str) -> Iterator[Path]:
    folder = Path(work)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_own(folder)
    with (folder / "host-lease.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "host-lease.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return value
