"""Monitors around a trial: started before, stopped after, with proof that they cover the window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import StudyError
from cluster.host import Host
from cluster.topology import Node
from cluster.transport import ProcessId
from workloads.clock import Reading, clock_of, method_of
from workloads.manifest import ClockOffset, MonitorRun
from workloads.monitors import MONITORS, Monitor
from workloads.workload import Bench

FIRST_SAMPLE_DEADLINE_S = 20.0
LAST_SAMPLE_PERIODS = 3


@dataclass
class _Running:
    monitor: Monitor
    host: Host
    node: Node
    process: ProcessId
    file: Path
    started_s: float


class Monitors:
    """Every registered monitor on every host of the cluster, for one trial; or those of `kinds`, none
    of them for a trial that is to show what the others cost."""

    def __init__(
        self, bench: Bench, period_s: float, kinds: Mapping[str, Monitor] = MONITORS
    ) -> None:
        self._bench = bench
        self._period_s = period_s
        self._kinds = kinds
        self._running: list[_Running] = []
        self._clock_before: dict[str, Reading] = {}
        self.clock: tuple[ClockOffset, ...] = ()
        """Each host's clock, monitored or not; known when all is stopped."""

    def start(self) -> None:
        """Start all, and return when each has written a sample. StudyError names the one that did not."""
        self._clock_before = self._clocks()
        for host in self._bench.cluster.topology.hosts:
            for monitor in self._kinds.values():
                self._running.append(self._start(monitor, host))
        deadline = time.monotonic() + FIRST_SAMPLE_DEADLINE_S
        now_s = time.time()
        for running in self._running:
            self._wait_for_sample(running, now_s, deadline)

    def stop(self, window_end_s: float | None) -> tuple[MonitorRun, ...]:
        """Stop all, after each has a sample past the window's end (or two periods have gone by)."""
        if window_end_s is not None:
            deadline = time.monotonic() + LAST_SAMPLE_PERIODS * self._period_s
            while time.monotonic() < deadline and not self._all_past(window_end_s):
                time.sleep(self._period_s / 10)
        stopped = []
        for running in self._running:
            self._bench.transport.stop(running.process)
            self._last_s(running)  # fetches the whole file
            self._fetch_streams(running)
            stopped.append(self._describe(running))
        self._running = []
        self.clock = self._offsets()
        return tuple(stopped)

    def _clocks(self) -> dict[str, Reading]:
        topology, transport = self._bench.cluster.topology, self._bench.transport
        placed = {node.host: node for node in topology.nodes}
        return {host: clock_of(transport, node) for host, node in placed.items()}

    def _offsets(self) -> tuple[ClockOffset, ...]:
        after = self._clocks() if self._clock_before else {}
        return tuple(
            ClockOffset(
                host=host,
                before_s=before.offset_s,
                after_s=after[host].offset_s,
                method=method_of(self._bench.transport, before, after[host]),
            )
            for host, before in self._clock_before.items()
        )

    def _start(self, monitor: Monitor, host: Host) -> _Running:
        file = self._bench.record.monitor / f"{host.name}.{monitor.kind}.csv"
        cluster = self._bench.cluster
        node = _node_on(cluster.topology.nodes, host)
        transport = self._bench.transport
        output = transport.at(node, file)
        transport.act(node, "make-folder", str(output.parent))
        python = transport.python(node)
        command = monitor.command(host.name, str(output), self._period_s, cluster.site.mark, python)
        process = transport.start(node, command, *self._streams(host, monitor))
        return _Running(monitor, host, node, process, file, time.time())

    def _wait_for_sample(self, running: _Running, after_s: float, deadline: float) -> None:
        while (last := self._last_s(running)) is None or last < after_s:
            if time.monotonic() > deadline or not self._bench.transport.alive(running.process):
                raise StudyError(
                    f"monitor {running.monitor.kind} wrote no sample.",
                    f"host {running.host.name!r}",
                    f"read logs/{running.host.name}.{running.monitor.kind}.err of the record.",
                )
            time.sleep(self._period_s / 10)

    def _all_past(self, window_end_s: float) -> bool:
        return all((self._last_s(r) or 0) >= window_end_s for r in self._running)

    def _last_s(self, running: _Running) -> float | None:
        """Time of the last sample, by the controller's clock."""
        try:
            self._bench.transport.fetch(running.node, running.file, running.file)
        except FileNotFoundError:
            return None
        if not running.file.exists():
            return None
        last_s = running.monitor.last_epoch_s(running.file.read_text(errors="replace"))
        return None if last_s is None else last_s - self._clock_before[running.host.name].offset_s

    def _fetch_streams(self, running: _Running) -> None:
        for path in self._streams(running.host, running.monitor):
            with contextlib.suppress(FileNotFoundError):
                self._bench.transport.fetch(running.node, path, path)

    def _streams(self, host: Host, monitor: Monitor) -> tuple[Path, Path]:
        """What it prints, and its errors."""
        logs = self._bench.record.root / "logs"
        return logs / f"{host.name}.{monitor.kind}.out", logs / f"{host.name}.{monitor.kind}.err"

    def _describe(self, running: _Running) -> MonitorRun:
        return MonitorRun(
            kind=running.monitor.kind,
            host=running.host.name,
            file=f"monitor/{running.file.name}",
            period_s=self._period_s,
            started_epoch_s=running.started_s,
            stopped_epoch_s=time.time(),
        )


def _node_on(nodes: tuple[Node, ...], host: Host) -> Node:
    return next(node for node in nodes if node.host == host.name)
