"""The program's folder on a host, which only its user may write. Standard library only: it runs on the host.

What is imported and executed lies below it. Another user of the host who makes the folder first, or can
change it, would have his code executed as the SSH user; so such a folder is refused, not repaired.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from density_study.cluster.model.errors import InputError

_REMEDY = (
    "let root remove it, or set DENSITY_STUDY_HOST_FOLDER to a folder that only the SSH user can write to, "
    "the same one on every controller."
)


def own_folder(path: str) -> None:
    """Make the folder, if it is not there, with mode 0700. InputError if another user could have written to
    it, or could replace it."""
    folder = Path(path)
    if not folder.is_absolute() or ".." in folder.parts:
        raise InputError("it is not an absolute path.", path, _REMEDY)
    try:
        places = (folder, *folder.parents)
        # a link that leads nowhere also exists
        for missing in reversed([one for one in places if not os.path.lexists(one)]):
            missing.mkdir(mode=0o700, exist_ok=True)
        for parent in folder.parents:
            _check_parent(parent)
        _check_folder(folder)
    except OSError as error:
        raise InputError(f"it cannot be used: {error.strerror}.", path, _REMEDY) from error


def _check_parent(parent: Path) -> None:
    """Nobody else may rename what is in it. A link may only be root's, or this user's."""
    if parent.lstat().st_uid not in (0, os.getuid()):
        raise InputError(
            "it belongs to another user, who could replace what is in it.", str(parent), _REMEDY
        )
    status = parent.stat()
    writable = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    if status.st_uid not in (0, os.getuid()) or writable:
        raise InputError("other users can replace what is in it.", str(parent), _REMEDY)


def _check_folder(folder: Path) -> None:
    """Check the folder by a descriptor, which stays with the folder that was opened."""
    if stat.S_ISLNK(folder.lstat().st_mode):
        raise InputError("it is a link.", str(folder), _REMEDY)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid():
            raise InputError("it belongs to another user.", str(folder), _REMEDY)
        if status.st_mode & 0o022:
            raise InputError(
                f"other users can write to it (mode {stat.S_IMODE(status.st_mode):04o}).",
                str(folder),
                _REMEDY,
            )
        os.fchmod(descriptor, 0o700)  # an earlier version let others read it
    finally:
        os.close(descriptor)
