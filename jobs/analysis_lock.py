"""`analysing`: one analysis of a run at a time, whichever processes carry it out."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from density_study.cluster.state.owner import here
from density_study.cluster.state.plain_file import open_plain
from density_study.workloads.tables.storage import is_local

LOCK = "analysis.lock"
_NAME_BYTES = 200

log = logging.getLogger(__name__)


@contextmanager
def analysing(run_root: Path) -> Iterator[None]:
    """Hold the lock of the run's analysis. Waits for another process that holds it, and names it in the log;
    the kernel releases the lock of a process that ends. OSError if the folder is not writable."""
    if not is_local(run_root):
        yield
        return
    descriptor = open_plain(run_root / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning(
                "%s is analysed by %s; waiting until it ends", run_root, _holder(descriptor)
            )
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _sign(descriptor)
        yield
    finally:
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Write the holder's name, for whoever waits. A full disk does not prevent the analysis here."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {here().host} since {since}".encode(), 0)


def _holder(descriptor: int) -> str:
    name = os.pread(descriptor, _NAME_BYTES, 0).decode(errors="replace")
    return "".join(char for char in name if char.isprintable()) or "another process"
