"""Folders given to another user, or opened to that user by a list of rights."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="gives folders away")


def entry(tag: int, rights: int, who: int = 0xFFFFFFFF) -> bytes:
    """Of a list, as the kernel has it (acl(5), linux/posix_acl_xattr.h)."""
    return struct.pack("<HHI", tag, rights, who)


def set_rights(folder: Path, of: str, group: int, others: int) -> None:
    """`setfacl -m u:nobody:rwx`: the mode's bits of the group are its mask then. `of`: "access", or "default"
    of what is made in the folder. Skips the test where the file system has no lists."""
    entries = (entry(1, 7), entry(2, 7, NOBODY), entry(4, group), entry(16, 7), entry(32, others))
    try:
        os.setxattr(folder, f"system.posix_acl_{of}", struct.pack("<I", 2) + b"".join(entries))
    except OSError as error:
        pytest.skip(f"this file system has no lists of rights: {error}")
