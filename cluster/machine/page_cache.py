"""The page cache of a machine: bytes not written yet, evicted files, physical bytes. Standard library only.

As a program it writes out all dirty pages, and prints the seconds that it took; with `evict FOLDER...` it
drops the block files below these folders, and prints their bytes.

Dropping all caches needs root and disturbs other users of the kernel. Instead, the study evicts its own
block files (posix_fadvise) and proves afterwards that reads were physical, by the DataNodes' counters of
bytes read from the device. `cluster.clients.cold_reads` runs this on every node.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def io_bytes(pids: Sequence[int]) -> dict[str, int]:
    """read_bytes and write_bytes of processes since they started (/proc/<pid>/io), summed.

    Linux counts a write when its page is dirtied, not when it reaches the disk.
    """
    counters = [_proc_io(pid) for pid in pids]
    return {key: sum(c[key] for c in counters) for key in ("read_bytes", "write_bytes")}


def _proc_io(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {key: int(value) for key, _, value in (line.partition(": ") for line in lines)}


def unwritten_bytes() -> int:
    """Pages that are dirty or being written, of all processes on this kernel."""
    wanted = ("Dirty:", "Writeback:")
    lines = Path("/proc/meminfo").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


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


def main(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["evict"]:
        print(sum(map(evict, arguments[1:])))
        return
    begun_s = time.monotonic()
    os.sync()
    print(time.monotonic() - begun_s)


if __name__ == "__main__":
    main(sys.argv[1:])
