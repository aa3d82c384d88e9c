"""When a file or folder was made: unlike its other times, nobody can set it, and a copy has another."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

_AT_FDCWD, _AT_SYMLINK_NOFOLLOW, _STATX_BTIME = -100, 0x100, 0x800
_BYTES, _MASK_AT, _BIRTH_AT = 256, 0, 80
"""Size of the kernel's `struct statx`, and where in it are the mask of what is known and the birth."""


def birth_ns(path: Path) -> int:
    """Nanoseconds since 1970; 0 where the file system has none (NFS). Python 3.11 has no statx."""
    statx = getattr(ctypes.CDLL(None), "statx", None)
    found = ctypes.create_string_buffer(_BYTES)
    if statx is None or statx(
        _AT_FDCWD, os.fsencode(path), _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, found
    ):
        return 0
    (mask,) = struct.unpack_from("=I", found, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BIRTH_AT)
    return int(seconds * 10**9 + nanoseconds) if mask & _STATX_BTIME else 0
