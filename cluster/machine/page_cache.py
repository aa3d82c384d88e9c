"""Cold reads on a machine: flush writes, evict files, count physical bytes. Standard library only.

Dropping all caches needs root and disturbs other users of the kernel. Instead, the study evicts its own
block files (posix_fadvise) and proves afterwards that reads were physical, by the DataNodes' counters of
bytes read from the device. `cluster.clients.cold_reads` runs this on every node.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

DIRTY_ENOUGH_KIB = 4096


def io_bytes(pids: Sequence[int]) -> dict[str, int]:
    """read_bytes and write_bytes of processes since they started (/proc/<pid>/io), summed.

    Linux counts a write when its page is dirtied, not when it reaches the disk.
    """
    counters = [_proc_io(pid) for pid in pids]
    return {key: sum(c[key] for c in counters) for key in ("read_bytes", "write_bytes")}


def _proc_io(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {key: int(value) for key, _, value in (line.partition(": ") for line in lines)}


def flush_dirty_pages(deadline_s: float = 30.0) -> None:
    """Sync, then wait until little is dirty or under writeback, at most `deadline_s` (a busy host)."""
    os.sync()
    end = time.monotonic() + deadline_s
    while _unwritten_kib() > DIRTY_ENOUGH_KIB and time.monotonic() < end:
        time.sleep(0.1)


def _unwritten_kib() -> int:
    wanted = ("Dirty:", "Writeback:")
    lines = Path("/proc/meminfo").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


def evict(folder: str) -> int:
    """Drop the block files below `folder` from the page cache; returns how many bytes they hold."""
    return sum(_evict(file) for file in Path(folder).rglob("blk_*"))


def _evict(file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except FileNotFoundError:  # deleted meanwhile, and with it its cached pages
        return 0
    try:
        size = os.fstat(descriptor).st_size
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return size
    finally:
        os.close(descriptor)
