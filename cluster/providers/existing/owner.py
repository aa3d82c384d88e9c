"""Who may have written the files that a study names, and from which programs take what they run."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from density_study.cluster.model.errors import InputError

_FIRST_PERSON = 1000
"""Accounts with smaller numbers are of the system: root, hdfs, hadoop, ..."""


def check_owner(path: Path) -> None:
    """InputError if another person on this machine owns the file or folder, or everybody may change it.

    Client configurations and krb5.conf name classes, programs and plug-ins. What does not exist passes.
    """
    try:
        found = path.stat()
    except OSError:
        return  # what is missing has a message of its own
    everybody = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    if everybody or (found.st_uid >= _FIRST_PERSON and found.st_uid != os.geteuid()):
        who = "everybody may write to it" if everybody else f"it belongs to user {found.st_uid}"
        raise InputError(
            f"{who}, who could so choose what runs here as you.",
            str(path),
            "take a copy of your own, after a look at it.",
        )
