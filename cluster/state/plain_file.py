"""`read_plain`: a file from others, if it is a plain file of bounded size; no link, pipe or device."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


class NotPlainError(OSError):
    """The file must not be read; `strerror` is the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(errno.EINVAL, reason, str(path))


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The content. NotPlainError if it is no plain file or larger than `most_bytes`; OSError if it cannot be
    read. Does not wait for a pipe, and follows no link at the path's end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotPlainError(path, "a symbolic link") from error
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise NotPlainError(path, "not a plain file") from error
        raise
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        os.close(descriptor)
        raise NotPlainError(path, "not a plain file")
    with os.fdopen(descriptor, "rb") as stream:
        # it may grow, and files of /proc have no size
        content = stream.read(most_bytes + 1) if info.st_size <= most_bytes else None
    if content is None or len(content) > most_bytes:
        raise NotPlainError(path, f"larger than {most_bytes} bytes")
    return content
