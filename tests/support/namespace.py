"""A network namespace, or mounts of its own, entered by this thread, and left again; its children and
connections are in it too."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET, CLONE_NEWNS, CLONE_FS = 0x40000000, 0x20000, 0x200
_LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """`namespace` is a name known to `ip netns`."""
    there = os.open(Path("/run/netns") / namespace, os.O_RDONLY)
    try:
        with _left("net", CLONE_NEWNET):
            _checked(_LIBC.setns(there, CLONE_NEWNET))
            yield
    finally:
        os.close(there)


@contextmanager
def mounted(folders: Mapping[str, Path]) -> Iterator[None]:
    """Nobody else sees these folders (values) at these places (keys), nor what is mounted meanwhile."""
    working = Path.cwd()
    try:
        with _left("mnt", CLONE_NEWNS):
            _checked(_LIBC.unshare(CLONE_NEWNS))
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            for place, folder in folders.items():
                Path(place).mkdir(parents=True, exist_ok=True)
                subprocess.run(["mount", "--bind", folder, place], check=True)
            yield
    finally:
        os.chdir(working)  # who enters mounts begins at their root


@contextmanager
def _left(kind: str, flag: int) -> Iterator[None]:
    """At the end, this thread's namespace is the one of now."""
    before = os.open(f"/proc/thread-self/ns/{kind}", os.O_RDONLY)
    try:
        yield
    finally:
        try:
            # a thread that was started meanwhile and still runs shares this one's working directory,
            # and who shares it may not change mounts
            _checked(_LIBC.unshare(CLONE_FS))
            _checked(_LIBC.setns(before, flag))
        finally:
            os.close(before)


def _checked(code: int) -> None:
    if code != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
