"""Atomic writes: temporary file, fsync, rename. Readers see the old file or the new one, never a part.

Locks: one process at a time. Standard library only, because it runs on hosts too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`. It replaces `path` if the block succeeds, and is removed if not.
    Creates the folder. No fsync: use it for files that can be made again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield aside
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def left_aside(folder: Path, pattern: str) -> Iterator[Path]:
    """Temporary files of `replacing`, for targets that match `pattern`, whose process was killed."""
    for aside in folder.glob(f".{pattern}.*"):
        pid = aside.name.rpartition(".")[2]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            yield aside


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write UTF-8 `text` to `path` atomically. Creates the folder."""
    with replacing(path) as aside:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that a rename in it survives a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` alone, until the block is left or the process ends. Creates the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
