"""The lease of a host, stored on the host: one run at a time, from any controller.

Standard library only: runs on the host. Whether a holder on another machine still lives cannot be
known, so a lease expires; it cannot be taken while a process of its run still runs there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.ssh.work_folder import own_folder
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import read_plain, why_unread
from density_study.cluster.state.tags import tagged

_MAX_BYTES = 2**16
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
EXPIRES_S = 24 * 3600.0
"""After its last renewal; every build renews it."""


def take(work: str, tag: str, owner: Mapping[str, Any], dead: str = "") -> dict[str, Any] | None:
    """Take or renew the host for the run `tag`; `dead` is the tag of a holder known to be dead.

    None on success, else the holder's lease.
    """
    with _locked(work) as path:
        held = _read(path)
        if held is not None and held["tag"] != tag:
            running = len(tagged(held["tag"]))
            if running or not (held["tag"] == dead or _has_expired(held)):
                return {**held, "running": running}
        lease = {"tag": tag, "owner": owner, "since": time.time(), "renewed": _clocks()}
        atomic.write_text(path, json.dumps({"format": 2, **lease}) + "\n")
        return None


def _clocks() -> dict[str, Any]:
    boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
    return {
        "boot_id": boot_id,
        "since_boot_s": time.clock_gettime(time.CLOCK_BOOTTIME),
        "epoch_s": time.time(),
    }


def _has_expired(held: Mapping[str, Any]) -> bool:
    """By the time since boot, which nobody can set; after a reboot, by the clock."""
    then, now = held["renewed"], _clocks()
    clock = "since_boot_s" if then["boot_id"] == now["boot_id"] else "epoch_s"
    return bool(now[clock] - then[clock] > EXPIRES_S)


def release(work: str, tag: str) -> None:
    """Release the host if `tag` holds it."""
    with _locked(work) as path:
        held = _read(path)
        if held is not None and held["tag"] == tag:
            path.unlink()


def holder(work: str) -> dict[str, Any] | None:
    """The current lease, and whether it has `expired`; None if there is none."""
    with _locked(work) as path:
        held = _read(path)
        return held and {**held, "expired": _has_expired(held)}


@contextmanager
def _locked(work: str) -> Iterator[Path]:
    folder = Path(work)
    own_folder(work)
    with atomic.locked(folder / "host-lease.lock"):
        yield folder / "host-lease.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        held = json.loads(read_plain(path, _MAX_BYTES))
        if not isinstance(held["tag"], str) or not isinstance(held["owner"], dict):
            raise ValueError("its tag or owner is of another kind")
        _has_expired(held)
        time.localtime(held["since"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
        raise StudyError(
            f"the lease of the host is damaged: {why_unread(error)}.",
            str(path),
            f"make sure that no study uses the host, then run there: `rm {path}`.",
        ) from error
    lease: dict[str, Any] = held
    return lease
