"""Dirty pages of the workers' machines: how many bytes, and the seconds until they are on the disks.

Linux takes writes into memory and writes them out later; on hosts with much memory, minutes later.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.clients import page_caches
from density_study.cluster.clients.page_caches import CacheWork
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MIB
from density_study.cluster.model.topology import AnyTopology, Node
from density_study.cluster.model.transport import Transport

SLOWEST_MIB_S = 5.0
"""Throughput of all disks of a machine together, below which they count as broken."""
START_S = 60.0


@dataclass(frozen=True)
class WritingOut:
    """`unwritten_bytes`: those of all machines when it began."""

    unwritten_bytes: int
    work: CacheWork

    def seconds(self) -> float | None:
        """Wait for the slowest machine, and return its time. None: unknown, or not done
        within the limit."""
        found = self.work.numbers()
        return None if found is None else max(found)


def begin_write_out(
    cluster: Cluster, transport: Transport, logs: Path, timeout_scale: float
) -> WritingOut:
    """Have every machine of workers write out its dirty pages; output is below `logs`."""
    machines = one_per_kernel(cluster.topology)
    unwritten = [transport.act(node, "unwritten-bytes") for node in machines]
    limit_s = (START_S + max(unwritten) / MIB / SLOWEST_MIB_S) * timeout_scale
    work = page_caches.begin(transport, "write-out", [(one, ()) for one in machines], logs, limit_s)
    return WritingOut(sum(unwritten), work)


def write_out(cluster: Cluster, transport: Transport, logs: Path, timeout_scale: float) -> None:
    """Wait until everything written before is on disk. StudyError if it is not done in time."""
    writing = begin_write_out(cluster, transport, logs, timeout_scale)
    if writing.seconds() is None:
        raise StudyError(
            f"{writing.unwritten_bytes / MIB:,.0f} MiB in the page caches of the workers' machines were not "
            f"written to the disks within {writing.work.limit_s:.0f} s.",
            f"build {cluster.site.root.name}",
            f"look for a broken disk, or another program that writes; see {logs}.",
        )


def one_per_kernel(topology: AnyTopology) -> tuple[Node, ...]:
    """A worker of each machine with a page cache of its own: a guest, else the host."""
    guests = topology.isolation.facts.own_kernel
    return tuple({node.name if guests else node.host: node for node in topology.workers}.values())
