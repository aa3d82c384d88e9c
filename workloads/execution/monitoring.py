"""Monitors around a trial: started before, stopped after, with proof that they cover the window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import StudyError
from cluster.model.transport import ProcessId
from cluster.providers.provider import Machine, machines_of_hosts
from workloads.base.clock import Reading, clock_of, method_of
from workloads.base.values import ClockOffset, MonitorRun
from workloads.base.workload import TrialContext
from workloads.monitors import MONITORS, Monitor

FIRST_SAMPLE_DEADLINE_S = 20.0
LAST_SAMPLE_PERIODS = 3


@dataclass
class _Running:
    monitor: Monitor
    machine: Machine
    process: ProcessId
    file: Path
    started_s: float


class Monitors:
    """Every registered monitor on every machine (left out: every host) of the cluster, for one trial; or
    those of `kinds`, none of them for a trial that is to show what the others cost."""

    def __init__(
        self,
        context: TrialContext,
        period_s: float,
        kinds: Mapping[str, Monitor] = MONITORS,
        machines: Sequence[Machine] | None = None,
    ) -> None:
        self._context = context
        self._machines = (
            machines_of_hosts(context.cluster.topology, context.transport)
            if machines is None
            else machines
        )
        self._period_s = period_s
        self._kinds = kinds
        self._running: list[_Running] = []
        self._clock_before: dict[str, Reading] = {}
        self.clock: tuple[ClockOffset, ...] = ()
        """Each host's clock, monitored or not; known when all is stopped."""

    def start(self) -> None:
        """Start all, and return when each has written a sample. StudyError names the one that did not."""
        self._clock_before = self._clocks()
        for machine in self._machines:
            for monitor in self._kinds.values():
                self._running.append(self._start(monitor, machine))
        deadline = time.monotonic() + FIRST_SAMPLE_DEADLINE_S * self._context.timeout_scale
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
            running.machine.transport.stop(running.process)
            self._last_s(running)  # fetches the whole file
            self._fetch_streams(running)
            stopped.append(self._describe(running))
        self._running = []
        self.clock = self._offsets()
        return tuple(stopped)

    def _clocks(self) -> dict[str, Reading]:
        return {one.name: clock_of(one.transport, one.node) for one in self._machines}

    def _offsets(self) -> tuple[ClockOffset, ...]:
        after = self._clocks() if self._clock_before else {}
        transports = {one.name: one.transport for one in self._machines}
        return tuple(
            ClockOffset(
                host=host,
                before_s=before.offset_s,
                after_s=after[host].offset_s,
                method=method_of(transports[host], before, after[host]),
            )
            for host, before in self._clock_before.items()
        )

    def _start(self, monitor: Monitor, machine: Machine) -> _Running:
        file = self._context.record.monitor / f"{machine.name}.{monitor.kind}.csv"
        cluster, node, transport = self._context.cluster, machine.node, machine.transport
        output = transport.at(node, file)
        transport.act(node, "make-folder", str(output.parent))
        python = transport.python(node)
        command = monitor.command(
            machine.name, str(output), self._period_s, cluster.site.tag, python
        )
        process = transport.start(node, command, *self._streams(machine, monitor))
        return _Running(monitor, machine, process, file, time.time())

    def _wait_for_sample(self, running: _Running, after_s: float, deadline: float) -> None:
        while (last := self._last_s(running)) is None or last < after_s:
            if time.monotonic() > deadline or not running.machine.transport.alive(running.process):
                raise StudyError(
                    f"monitor {running.monitor.kind} wrote no sample.",
                    f"host {running.machine.name!r}",
                    f"read logs/{running.machine.name}.{running.monitor.kind}.err of the record.",
                )
            time.sleep(self._period_s / 10)

    def _all_past(self, window_end_s: float) -> bool:
        return all((self._last_s(r) or 0) >= window_end_s for r in self._running)

    def _last_s(self, running: _Running) -> float | None:
        """Time of the last sample, by the controller's clock."""
        try:
            machine = running.machine
            machine.transport.fetch(machine.node, running.file, running.file)
        except FileNotFoundError:
            return None
        if not running.file.exists():
            return None
        last_s = running.monitor.last_epoch_s(running.file.read_text(errors="replace"))
        return None if last_s is None else last_s - self._clock_before[machine.name].offset_s

    def _fetch_streams(self, running: _Running) -> None:
        machine = running.machine
        for path in self._streams(machine, running.monitor):
            with contextlib.suppress(FileNotFoundError):
                machine.transport.fetch(machine.node, path, path)

    def _streams(self, machine: Machine, monitor: Monitor) -> tuple[Path, Path]:
        """What it prints, and its errors."""
        logs = self._context.record.root / "logs"
        return (
            logs / f"{machine.name}.{monitor.kind}.out",
            logs / f"{machine.name}.{monitor.kind}.err",
        )

    def _describe(self, running: _Running) -> MonitorRun:
        return MonitorRun(
            kind=running.monitor.kind,
            host=running.machine.name,
            file=f"monitor/{running.file.name}",
            period_s=self._period_s,
            started_epoch_s=running.started_s,
            stopped_epoch_s=time.time(),
        )
