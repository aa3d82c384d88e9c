"""Dirty pages of the workers' machines: how many bytes, and the seconds until they are on the disks.

Linux takes writes into memory and writes them out later; on hosts with much memory, minutes later.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.machine import page_cache
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, ProcessId, Transport

SLOWEST_MIB_S = 5.0
"""Of all disks of a machine together; slower ones count as broken."""
START_S = 60.0
_LOOK_S = 5.0


@dataclass(frozen=True)
class WritingOut:
    """`unwritten_bytes`: of all machines when it began. `limit_s`: how long it may take."""

    transport: Transport
    unwritten_bytes: int
    begun_s: float
    limit_s: float
    processes: tuple[tuple[Node, ProcessId, Path], ...]

    def seconds(self) -> float | None:
        """Wait for the slowest machine; the time that it took there. None: it is not known, or not done
        within the limit."""
        found = [self._seconds_of(*one) for one in self.processes]
        known = [one for one in found if one is not None]
        return max(known) if len(known) == len(found) else None

    def _seconds_of(self, node: Node, process: ProcessId, out: Path) -> float | None:
        # not stopped past the limit: nothing can stop a sync
        while (left_s := self.begun_s + self.limit_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                if self.transport.wait(process, min(_LOOK_S, left_s)) != 0:
                    return None
                self.transport.fetch(node, out, out)
                return float(out.read_text().splitlines()[-1])  # an earlier one wrote there, too
        return None


def begin_write_out(
    cluster: Cluster, transport: Transport, logs: Path, timeout_scale: float
) -> WritingOut:
    """Have every machine of workers write out its dirty pages; output is below `logs`."""
    machines = one_per_kernel(cluster.topology)
    unwritten = [transport.act(node, "unwritten-bytes") for node in machines]
    processes = []
    for node in machines:
        out, err = (logs / f"write-out-{node.name}.{end}" for end in ("out", "err"))
        argv = (*transport.python(node), "-m", page_cache.__name__)
        command = Command("write-out", argv)
        processes.append((node, transport.start(node, command, out, err), out))
    limit_s = (START_S + max(unwritten) / MIB / SLOWEST_MIB_S) * timeout_scale
    return WritingOut(transport, sum(unwritten), time.monotonic(), limit_s, tuple(processes))


def write_out(cluster: Cluster, transport: Transport, logs: Path, timeout_scale: float) -> None:
    """Until nothing that was written before is in memory alone. StudyError if it is not done in time."""
    writing = begin_write_out(cluster, transport, logs, timeout_scale)
    if writing.seconds() is None:
        raise StudyError(
            f"{writing.unwritten_bytes / MIB:,.0f} MiB in the page caches of the workers' machines were not "
            f"written to the disks within {writing.limit_s:.0f} s.",
            f"build {cluster.site.root.name}",
            f"look for a broken disk, or another program that writes; see {logs}.",
        )


def one_per_kernel(topology: Topology) -> tuple[Node, ...]:
    """A worker of each machine with a page cache of its own: a guest, else the host."""
    guests = topology.isolation == "vm"
    return tuple({node.name if guests else node.host: node for node in topology.workers}.values())
