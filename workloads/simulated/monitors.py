"""Monitors of a simulated cluster: dool and nodecpu of each host, from what the model says of its use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.provider import clock_of
from density_study.workloads.base.values import ClockOffset, MonitorRun
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.simulated import texts
from density_study.workloads.simulated.outcome import Use
from density_study.workloads.simulated.workload import SimulatedWorkload

MOST_SAMPLES = 60
"""In the window of a trial: a rehearsal needs means, and a sample per second of many hosts fills a disk."""
_AROUND = 3
_TICKS_PER_S = 100
_OTHERS = 0.01
"""Share of a host's cores that is nobody's."""
Inside = NDArray[np.bool_]


class SimulatedMonitors:
    """Stands in for `Monitors` on a simulated cluster."""

    def __init__(
        self, context: TrialContext, period_s: float, monitored: bool, workload: SimulatedWorkload
    ) -> None:
        self._context, self._period_s = context, period_s
        self._monitored, self._workload = monitored, workload
        self.clock: tuple[ClockOffset, ...] = ()

    def start(self) -> None:
        clock_of(self._context.journal).advance(_AROUND)

    def stop(self, window_end_s: float | None) -> tuple[MonitorRun, ...]:
        topology = self._context.cluster.built
        self.clock = tuple(ClockOffset(host=host.name, before_s=0.0, after_s=0.0, method="simulated")
                           for host in topology.occupied)  # fmt: skip
        window = self._workload.window_s
        if window is None or not self._monitored:
            return ()
        begin_s, end_s = window
        period_s = max(self._period_s, float(np.ceil((end_s - begin_s) / MOST_SAMPLES)))
        clock_of(self._context.journal).advance(period_s)
        epoch_s = np.arange(begin_s - _AROUND * period_s, end_s + 1.5 * period_s, period_s)
        inside = (epoch_s > begin_s) & (epoch_s < end_s + period_s)
        runs = []
        for host in topology.occupied:
            for kind in ("dool", "nodecpu"):
                data = _SAMPLES[kind](topology, host, self._workload.use, epoch_s, inside, period_s)
                runs.append(self._written(kind, host.name, data, period_s, epoch_s))
        return tuple(runs)

    def _written(
        self, kind: str, host: str, data: bytes, period_s: float, epoch_s: texts.Floats
    ) -> MonitorRun:
        path = Path(self._context.record.monitor) / f"{host}.{kind}.csv"
        path.write_bytes(data)
        return MonitorRun(kind=kind, host=host, file=f"monitor/{path.name}", period_s=period_s,
                          started_epoch_s=float(epoch_s[0]), stopped_epoch_s=float(epoch_s[-1]))  # fmt: skip


def _cores(topology: Topology, host: Host, use: Use) -> dict[str, float]:
    """Busy cores of each node on the host, while the clients run."""
    found = {}
    nodes = [node for node in topology.nodes if node.host == host.name]
    workers = [node for node in nodes if "worker" in node.roles]
    clients = [node for node in nodes if "client" in node.roles and "worker" not in node.roles]
    for node in nodes:
        found[node.name] = 0.01
        if node in workers:
            found[node.name] += use.servers * host.cores / len(workers)
        if node in clients:
            found[node.name] += use.clients * host.cores / len(clients)
    return found


def _dool(
    topology: Topology, host: Host, use: Use, epoch_s: texts.Floats, inside: Inside, _: float
) -> bytes:
    workers = {node.host for node in topology.workers}
    busy = 100 * (sum(_cores(topology, host, use).values()) / host.cores + _OTHERS) * inside
    busy = np.clip(busy, 0, 99)
    of_disks = use.disks * inside if host.name in workers else np.zeros_like(busy)
    waiting = (100 - busy) * of_disks * min(1.0, len(host.disks) / host.cores) / 4
    share = 2**20 / len(workers) * inside if host.name in workers else np.zeros_like(busy)
    cells = [0.8 * busy, 0.2 * busy, 100 - busy - waiting, waiting, np.zeros_like(busy),
             use.read_mib_s * share, use.written_mib_s * share]  # fmt: skip
    return texts.dool(epoch_s, np.stack(cells))


def _nodecpu(
    topology: Topology, host: Host, use: Use, epoch_s: texts.Floats, inside: Inside, period_s: float
) -> bytes:
    cores = _cores(topology, host, use) | {"monitor": 0.001}
    ticks = {
        name: _TICKS_PER_S * period_s * np.cumsum(busy * inside) for name, busy in cores.items()
    }
    return texts.nodecpu(host.name, host.cores, epoch_s, ticks)


_SAMPLES = {"dool": _dool, "nodecpu": _nodecpu}
