"""The per-user folder for locks and leases: what must be known beyond one run."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cluster.model.errors import InputError

VARIABLE = "DENSITY_STUDY_RUNTIME"


def runtime_dir() -> Path:
    """$DENSITY_STUDY_RUNTIME, else /tmp/density-study-<uid>.

    $XDG_RUNTIME_DIR has no say: a login shell has it and cron has not, and the same user's processes
    must find the same leases. InputError if it exists and is not ours alone: /tmp is everybody's.
    """
    path = _chosen()
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_own(path)
    return path


def check_own(path: Path) -> None:
    """InputError if somebody else made `path` before us, or made it a link."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise InputError(
            "is not a folder of this user.", str(path), f"set {VARIABLE} to a folder of your own."
        )


def _chosen() -> Path:
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    return Path("/tmp") / f"density-study-{os.getuid()}"
