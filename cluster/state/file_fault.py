"""`file_fault`: a failed file operation as an error that a user can act on.

The `study` command and the tasks of Airflow translate here, and nowhere else. Code between raises OSError as
it is; `cluster.state.atomic.naming` adds the path where the operating system names none.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from density_study.cluster.model.errors import StudyError

_MIB = 2**20
_FULL_BELOW_MIB = 16
_AGAIN = "then run the same command again"

_Words = Callable[[Path], tuple[str, str]]
"""What happened at a path, and the remedy."""


def _full(path: Path) -> tuple[str, str]:
    disk = _mount(path)
    free = os.statvfs(disk)  # a disk with too many files has space left
    return (
        f"the disk of {disk} is full ({_free_mib(disk):,} MiB and {free.f_favail:,} inodes free).",
        f"free some space on it, {_AGAIN}.",
    )


def _denied(path: Path) -> tuple[str, str]:
    there = _existing(path)
    return (
        "this user has no permission to do that.",
        f"check owner and mode of {there} (ls -ld), or name a folder of your own; {_AGAIN}.",
    )


def _read_only(path: Path) -> tuple[str, str]:
    return (
        f"the file system of {_mount(path)} is read-only.",
        f"mount it writable, or name a folder on another disk; {_AGAIN}.",
    )


_WORDS: Mapping[int, _Words] = MappingProxyType(
    {
        errno.ENOSPC: _full,
        errno.EDQUOT: lambda path: (
            f"this user's quota on the disk of {_mount(path)} is used up.",
            f"delete files of your own there, {_AGAIN}.",
        ),
        errno.EROFS: _read_only,
        errno.EACCES: _denied,
        errno.EPERM: _denied,
        errno.EMFILE: lambda _: (
            "this process has too many open files.",
            f"raise the limit (ulimit -n 4096), {_AGAIN}.",
        ),
        errno.ENFILE: lambda _: (
            "this machine has too many open files.",
            f"end other programs, or raise fs.file-max, {_AGAIN}.",
        ),
        errno.EFBIG: lambda _: (
            "the file is larger than the limit for files.",
            f"raise the limit (ulimit -f unlimited), {_AGAIN}.",
        ),
        errno.EIO: lambda path: (
            f"the disk of {_mount(path)} reports an input/output error.",
            f"check the disk (dmesg), or name a folder on another one; {_AGAIN}.",
        ),
        errno.ELOOP: lambda path: (
            "this is a symbolic link, which is not followed.",
            f"remove it (rm {path}), {_AGAIN}.",
        ),
        errno.EINVAL: lambda path: (
            "this is not a regular file.",
            f"remove it (rm {path}), {_AGAIN}.",
        ),
        errno.EISDIR: lambda path: (
            "a folder is in the place of a file.",
            f"remove it (rm -r {path}), {_AGAIN}.",
        ),
        errno.EEXIST: lambda _: (
            "something of this name exists.",
            f"move it away, or name another place; {_AGAIN}.",
        ),
        errno.ENOTDIR: lambda path: (
            f"{_existing(path)} is not a folder.",
            f"move it away, or name another place; {_AGAIN}.",
        ),
        errno.ENAMETOOLONG: lambda _: ("the name is too long.", "name a shorter one."),
    }
)


def file_fault(error: BaseException | None) -> StudyError | None:
    """The error that a file operation caused, directly or as its `__cause__`; None for any other cause."""
    while error is not None:
        if isinstance(error, UnicodeEncodeError) and not error.object.isprintable():
            return StudyError(
                "a name has bytes that are not UTF-8.",
                ascii(error.object)[:200],
                f"rename it, or name something else; {_AGAIN}.",
            )
        words = _WORDS.get(error.errno or 0) if isinstance(error, OSError) else None
        if isinstance(error, OSError) and words:
            path = _path(error)
            if path is None and error.errno == errno.ENOSPC and (found := full_disk(Path.cwd())):
                return found
            what, remedy = words(path or _output())
            return StudyError(what, str(path or "standard output"), remedy)
        error = error.__cause__
    return None


def fault_of(error: Exception) -> StudyError | None:
    """The error itself if it is written for people, else its file operation's; None: it has no such words."""
    return error if isinstance(error, StudyError) else file_fault(error)


@contextmanager
def as_study_errors() -> Iterator[None]:
    """Failed file operations of the block become a StudyError each."""
    try:
        yield
    except StudyError:
        raise
    except Exception as error:
        if fault := file_fault(error):
            raise fault from error
        raise


def full_disk(*folders: Path) -> StudyError | None:
    """The error for the first of these folders, or of the folder for temporary files, whose disk is full: for
    programs that report a full disk without a path."""
    for folder in (*folders, Path(tempfile.gettempdir())):
        if _free_mib(_mount(folder)) < _FULL_BELOW_MIB:
            return StudyError(_full(folder)[0], str(folder), _full(folder)[1])
    return None


def _path(error: OSError) -> Path | None:
    # A rename fails for its target's folder more often than for its source.
    name = error.filename2 or error.filename
    if name is None or isinstance(name, int):
        return None
    return Path(os.fsdecode(name)).absolute()


def _output() -> Path:
    """Where standard output goes: what a write without a path goes to, as all files are named."""
    try:
        return Path("/proc/self/fd/1").readlink()
    except OSError:
        return Path("/dev/stdout")


def _existing(path: Path) -> Path:
    """The path, or the first folder above it that exists."""
    return next((one for one in (path, *path.parents) if os.path.lexists(one)), Path("/"))


def _mount(path: Path) -> Path:
    there = _existing(path)
    return next((one for one in (there, *there.parents) if os.path.ismount(one)), Path("/"))


def _free_mib(path: Path) -> int:
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize // _MIB
