"""Cold reads on this machine: writes settled, block files evicted, physical bytes counted.

Without root, and on a kernel shared with others, dropping all caches is no option: the study evicts
its own block files (posix_fadvise) and proves afterwards, by the DataNodes' own counters of bytes
that came from the device, that reads were physical.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster.cluster import Cluster
from cluster.provider import provider_of

DIRTY_ENOUGH_KIB = 4096


@dataclass(frozen=True)
class Evicted:
    method: str
    bytes: int


@dataclass(frozen=True)
class IoCounters:
    """Bytes from and to devices caused by the cluster's DataNodes since they started (/proc/<pid>/io).

    Linux counts a write when its page is dirtied, not when it reaches the disk.
    """

    read_bytes: int
    written_bytes: int

    @classmethod
    def read(cls, cluster: Cluster) -> IoCounters:
        pids = [p.pid for p in cluster.processes if p.name.startswith("datanode")]
        counters = [_proc_io(pid) for pid in pids]
        return cls(sum(c["read_bytes"] for c in counters), sum(c["write_bytes"] for c in counters))

    def since(self, earlier: dict[str, int]) -> IoCounters:
        return IoCounters(
            self.read_bytes - earlier["read_bytes"], self.written_bytes - earlier["written_bytes"]
        )

    def to_json(self) -> dict[str, int]:
        return asdict(self)


def _proc_io(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {key: int(value) for key, _, value in (line.partition(": ") for line in lines)}


def settle_writes(deadline_s: float = 30.0) -> None:
    """Sync, then wait until little is dirty or under writeback, at most `deadline_s` (a busy host)."""
    os.sync()
    end = time.monotonic() + deadline_s
    while _unwritten_kib() > DIRTY_ENOUGH_KIB and time.monotonic() < end:
        time.sleep(0.1)


def _unwritten_kib() -> int:
    wanted = ("Dirty:", "Writeback:")
    lines = Path("/proc/meminfo").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


def evict_blocks(cluster: Cluster) -> Evicted:
    """Drop the cluster's own block files from the page cache; says how many bytes they hold."""
    total = 0
    places = provider_of(cluster.topology.provider).places(cluster.site, cluster.topology)
    for node in cluster.topology.workers:
        for file in Path(places.data[node.name]).rglob("blk_*"):
            total += _evict(file)
    return Evicted("posix_fadvise", total)


def _evict(file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except FileNotFoundError:  # a block deleted meanwhile is in no cache of ours
        return 0
    try:
        size = os.fstat(descriptor).st_size
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return size
    finally:
        os.close(descriptor)
