"""Opens files that may come from others: plain files alone, never by a link, and never waiting for a pipe.

A folder may hold what others put there: a link that leads to a file of this user's, a pipe that nobody
writes to, a device without an end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from density_study.cluster.model.errors import StudyError


class NotPlainError(StudyError, OSError):
    """The file must not be opened; `strerror` is the reason. An OSError for callers that take it for any file
    that cannot be read, and a StudyError for those that show it."""

    def __init__(self, path: Path, reason: str) -> None:
        OSError.__init__(self, errno.EINVAL, reason, str(path))
        StudyError.__init__(
            self,
            f"it is {reason}.",
            str(path),
            "find out how it came there, then remove it, or put a copy of the file in its place.",
        )


def open_plain(path: Path, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """A descriptor, which no child inherits. NotPlainError if `path` is anything but a plain file; OSError as
    `os.open`."""
    try:
        return _opened(path, flags | os.O_NOFOLLOW, mode)
    except NotPlainError:
        raise
    except OSError as error:
        if reason := fault_of(path):
            raise NotPlainError(path, reason) from error
        raise


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The content. NotPlainError as `open_plain`, and for a file larger than `most_bytes`."""
    return _read(open_plain(path), path, most_bytes)


def read_below(root: Path, name: str | Path, most_bytes: int) -> bytes:
    """`read_plain` of the file `name` below the run's folder `root`. NotPlainError also where a folder
    between them is a link: it may lead to the files of another run, or of this user's."""
    for folder in Path(name).parents[:-1]:
        if (root / folder).is_symlink():
            raise NotPlainError(root / folder, "a symbolic link")
    return read_plain(root / name, most_bytes)


def read_named(path: Path, most_bytes: int) -> bytes:
    """The same of a file that a user names: it may be a link to one."""
    return _read(_opened(path, os.O_RDONLY), path, most_bytes)


def _opened(path: Path, flags: int, mode: int = 0) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlainError(path, "not a plain file")
    return descriptor


def _read(descriptor: int, path: Path, most_bytes: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise NotPlainError(path, f"larger than {most_bytes} bytes")
    return content


def fault_of(path: Path) -> str:
    """What `path` is, if it exists and is not a plain file; else empty."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "" if stat.S_ISREG(mode) else "not a plain file"
