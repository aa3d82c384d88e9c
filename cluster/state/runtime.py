"""The per-user folder for locks and leases, which are shared by all runs."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from density_study.cluster.model.errors import InputError

VARIABLE = "DENSITY_STUDY_RUNTIME"
LEASE, LEASE_LOCK = "lease.json", "lease.lock"


def runtime_dir() -> Path:
    """$DENSITY_STUDY_RUNTIME, else /tmp/density-study-<uid>.

    $XDG_RUNTIME_DIR is ignored: a login shell sets it and cron does not, but all processes of a user must
    find the same leases. InputError if the folder belongs to another user: anyone can write to /tmp.
    """
    path = _place()
    with suppress(FileExistsError):  # a file, or a link that leads nowhere
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_own(path)
    if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError("other users may write to it.", str(path), f"run: chmod 700 {path}.")
    return path


def keep_from_sweeps() -> None:
    """Renew the times of the lease, so that systemd-tmpfiles, which deletes what is older than 10 days from
    /tmp, lets it outlive a longer study. Creates nothing. InputError as `runtime_dir`."""
    folder = _place()
    if not folder.exists():
        return
    check_own(folder)
    for path in (folder / LEASE, folder / LEASE_LOCK, folder):
        with suppress(FileNotFoundError):
            os.utime(path, follow_symlinks=False)


def _place() -> Path:
    given = os.environ.get(VARIABLE)
    return Path(given).absolute() if given else Path(f"/tmp/density-study-{os.getuid()}")


def check_own(path: Path) -> None:
    """InputError if `path` belongs to another user, or is a link."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise InputError(
            "it is not a folder that this user owns.",
            str(path),
            f"set {VARIABLE} to a folder of your own.",
        )
