"""Atomic writes: aside, fsync, rename. A reader sees the old file or the new one, never a half."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The name of a file beside `path`, to be written within the block; it becomes `path` where the block
    ends well, and goes where it does not. The folder is made. Without fsync: for what can be made again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield aside
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def left_aside(folder: Path, pattern: str) -> Iterator[Path]:
    """What processes that are gone left of files in `folder` that match `pattern`: killed in `replacing`."""
    for aside in folder.glob(f".{pattern}.*"):
        pid = aside.name.rpartition(".")[2]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            yield aside


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write UTF-8 `text` to `path`, which exists whole or not at all; its folder is made."""
    with replacing(path) as aside:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Put a folder's entries on disk, so that a rename in it outlives a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
