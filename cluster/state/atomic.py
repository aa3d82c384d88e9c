"""Atomic writes: temporary file, fsync, rename. Readers see the old file or the new one, never a part.

Locks: one process at a time. No link is followed to a lock or a temporary file. Standard library only,
because it runs on hosts too.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from density_study.cluster.state.plain_file import open_plain

_OURS = os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Adds this path to an OSError that names none (a full disk). The innermost path counts."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`. It replaces `path` if the block succeeds, and is removed if not.
    Creates the folder. No fsync: use it for files that can be made again."""
    aside = _aside(path)
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield aside
            aside.rename(path)
        finally:
            with suppress(OSError):  # the error of the block counts
                aside.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    """Unique, because threads, PID namespaces and hosts that share a folder have equal process numbers."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{os.getpid()}")


def left_aside(folder: Path, pattern: str) -> Iterator[Path]:
    """Temporary files of `replacing`, for targets that match `pattern`, whose process was killed."""
    for aside in folder.glob(f".{pattern}.*"):
        pid = aside.name.rpartition(".")[2]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            yield aside


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write UTF-8 `text` to `path` atomically. Creates the folder."""
    with replacing(path) as aside:
        _write(aside, text, mode)
    sync_folder(path.parent)


def create_text(path: Path, text: str) -> None:
    """Write UTF-8 `text` to the new file `path`, atomically. FileExistsError for anything of that name, also
    for a link that leads nowhere. Creates no folder."""
    aside = _aside(path)
    with naming(path):
        try:
            _write(aside, text, 0o644)
            os.link(aside, path, follow_symlinks=False)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def _write(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OURS, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that a rename in it survives a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` exclusively, until the block is left or the process ends. Creates the
    folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(descriptor, path):
                yield
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether `path` still is this file. A clean-up of /tmp may have deleted it during the wait; the lock of
    a deleted file keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
