"""Opens files that may come from others: only plain files, never by a link, and never waiting for a pipe.
Refuses files that others may have written where they say what runs.

A folder may hold what others put there: a link that leads to a file of this user's, a pipe that nobody
writes to, a device without an end.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

from density_study.cluster.model.errors import InputError, StudyError

_FIRST_PERSON = 1000
"""Accounts with smaller numbers are of the system: root, hdfs, hadoop, ..."""
MOST_WHY = 500
"""Letters of a reason."""
MOST_FAULTS = 3
"""Faults of one file that are named, each with its key."""
_REMOVE = "find out how it came there, then remove it, or put a copy of the file in its place."


class NotPlainError(StudyError, OSError):
    """The file must not be opened; `strerror` is the reason. An OSError for callers that take it for any file
    that cannot be read, and a StudyError for those that show it."""

    def __init__(self, path: Path, reason: str, remedy: str = _REMOVE) -> None:
        OSError.__init__(self, errno.EINVAL, reason, str(path))
        StudyError.__init__(self, f"the file is not used: it is {reason}.", str(path), remedy)


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor, which no child inherits. NotPlainError if `path` is not a plain file. So is, to write to
    it, one that has another name: it may be a file of this user elsewhere. OSError as `os.open`."""
    try:
        descriptor = _opened(path, flags | os.O_NOFOLLOW, 0o644)
        if flags & (os.O_WRONLY | os.O_RDWR) and os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise NotPlainError(path, "a hard link: the file has a second name")
        return descriptor
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
        raise too_large(path, most_bytes)
    return content


def too_large(path: Path, most_bytes: int) -> NotPlainError:
    remedy = "find out why it is so large, or put a smaller file in its place."
    return NotPlainError(path, f"larger than {in_words(most_bytes)}", remedy)


def in_words(size: int) -> str:
    """'64 MiB', '16 KiB', '10 bytes'."""
    units = ((2**20, "MiB"), (2**10, "KiB"))
    return next(
        (f"{size // one} {word}" for one, word in units if size % one == 0), f"{size} bytes"
    )


def why_unread(error: Exception) -> str:
    """Why a file or an answer cannot be read, in a line and not in Python's words, which name no part of it.
    What others wrote may have thousands of faults."""
    return " ".join(_words(_unwrapped(error)).split())[:MOST_WHY]


def _words(error: BaseException) -> str:
    faults = getattr(error, "errors", None)  # of pydantic, which hosts do not have
    if callable(faults):
        every = [(".".join(map(str, one["loc"])), one["msg"]) for one in faults()[:MOST_FAULTS]]
        return "; ".join(f"{key}: {fault}" if key else fault for key, fault in every)
    if reason := getattr(error, "verify_message", ""):  # of TLS
        return f"its certificate is not accepted: {reason}"
    match error:
        case json.JSONDecodeError():
            return f"line {error.lineno}, column {error.colno} is not JSON"
        case UnicodeDecodeError():
            return f"byte {error.start + 1} is not {error.encoding.upper()}"
        case KeyError():
            return f"{error.args[0]} is missing" if error.args else "a key is missing"
        case RecursionError():
            return "it is nested too deeply"
        case OverflowError():
            return "a number in it is too large"
        case AttributeError() | TypeError() | IndexError():
            return "a value in it is of another kind, or missing"
        case OSError(strerror=str() as reason):
            return reason
    answer = getattr(error, "response", None)  # of requests
    return str(error) if answer is None else f"HTTP {answer.status_code}"


def _unwrapped(error: BaseException) -> BaseException:
    """What requests and urllib3 wrap in words of their own, which name objects of Python."""
    is_wrapper = type(error).__module__.startswith("urllib3.")
    is_wrapper |= isinstance(next(iter(error.args), None), Exception)
    cause = (error.__cause__ or error.__context__) if is_wrapper else None
    return error if cause is None else _unwrapped(cause)


def fault_of(path: Path) -> str:
    """What `path` is, if it exists and is not a plain file; else empty."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "" if stat.S_ISREG(mode) else "not a plain file"


def check_owner(path: Path, remedy: str = "take a copy of your own, after a look at it.") -> None:
    """InputError if another person on this machine owns the file or folder, or everybody may change it.

    For what names classes, programs and plug-ins, or holds them. What does not exist passes.
    """
    try:
        found = path.stat()
    except OSError:
        return  # what is missing has a message of its own
    everybody = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    if everybody or (found.st_uid >= _FIRST_PERSON and found.st_uid != os.geteuid()):
        owner = f"it belongs to user {found.st_uid}, who can"
        who = "everybody may write to it and so" if everybody else owner
        raise InputError(f"{who} choose what runs here as you.", str(path), remedy)
