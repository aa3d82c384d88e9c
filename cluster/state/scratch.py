"""`scratch`: a folder for a process's own use, which the next one removes if its process was killed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SPARK = "density-study-analysis-"
"""Shuffles of Spark, in the folder for temporary files."""
IMPORT = ".importing-"
"""An import that is not complete, in the folder of its study."""
REMOVED = ".removed-"
"""A run that is being deleted, in the folder of its study."""
OWN = "own-"
"""Tickets, archives and programs of one process, in the runtime folder."""


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder `<prefix>...` in `parent`, removed on exit. Sweeps those of killed processes before.

    The kernel's lock on the folder tells whether its process is alive, and ends with it.
    """
    sweep(parent, prefix)
    folder, descriptor = _claimed(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def allows_programs(folder: Path) -> bool:
    """Whether the disk of the folder is mounted so that programs and native libraries can be loaded."""
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


def sweep(parent: Path, prefix: str, dry_run: bool = False) -> list[Path]:
    """Remove this user's folders `<prefix>...` in `parent` that no process holds; returns them. A dry run
    removes nothing."""
    swept = list[Path]()
    with suppress(OSError):
        for folder in sorted(parent.glob(f"{prefix}*")):
            with suppress(OSError):  # another process removes it, or it belongs to another user
                _remove_if_free(folder, dry_run)
                swept.append(folder)
    return swept


def _remove_if_free(folder: Path, dry_run: bool) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not dry_run:
            shutil.rmtree(folder)
    finally:
        os.close(descriptor)


def _claimed(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if folder.exists():  # else another process swept it before it was locked
            return folder, descriptor
        os.close(descriptor)
