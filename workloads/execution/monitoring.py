"""Runs the monitors around a trial, and verifies that their samples cover the window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError, do_all, each_of, together
from density_study.cluster.model.transport import ProcessId, Transport
from density_study.cluster.providers.provider import Machine, machines_of_hosts
from density_study.workloads.base.clock import CLOCK_TRIES, Reading, clock_of
from density_study.workloads.base.values import ClockOffset, MonitorRun
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.execution.jvm_recordings import findings, flame_graphs
from density_study.workloads.monitors import MONITORS, WATCHING, MonitorCommand, last_epoch_s
from density_study.workloads.monitors.daemons import flight, profile, stalls

FIRST_SAMPLE_DEADLINE_S = 20.0
LAST_SAMPLE_PERIODS = 3
DUMPED_WITHIN_S = 60.0
"""What watches daemons may have to wait for their recordings."""
AT_ONCE = 16
R = TypeVar("R")


@dataclass(frozen=True)
class _Running:
    kind: str
    machine: Machine
    process: ProcessId
    file: Path
    streams: tuple[Path, Path]
    started_s: float

    def fetch(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.machine.transport.fetch(self.machine.node, path, path)

    def last_s(self) -> float | None:
        """Time of the last sample by the clock of its host; None before the first."""
        transport, node = self.machine.transport, self.machine.node
        return last_epoch_s(transport.act(node, "tail", str(transport.at(node, self.file))))


class Monitors:
    """The monitors `kinds` on the machines of the cluster (default: its hosts) during one trial. A trial that
    measures monitoring overhead runs without monitors."""

    def __init__(
        self,
        context: TrialContext,
        period_s: float,
        kinds: Mapping[str, MonitorCommand] = MONITORS,
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
        """Each host's clock, monitored or not; available after `stop`."""

    def start(self) -> None:
        """Start all monitors, and return when each has written a sample. StudyError names those that did
        not."""
        self._clock_before = self._clocks()
        self._on_all(self._start_all)
        deadline = time.monotonic() + FIRST_SAMPLE_DEADLINE_S * self._context.timeout_scale
        now_s = time.time()
        silent = [one for one in self._running if not self._has_sampled(one, now_s, deadline)]
        if silent:
            raise together([
                StudyError(
                    f"monitor {one.kind} wrote no sample.",
                    f"host {one.machine.name!r}",
                    f"read logs/{one.streams[1].name} of the record.",
                )
                for one in silent
            ])  # fmt: skip

    def stop(self, window_end_s: float | None) -> tuple[MonitorRun, ...]:
        """Stop all monitors once each has a sample after the window's end, or after LAST_SAMPLE_PERIODS. A
        host that does not answer keeps no monitor of another host running."""
        stopped: list[list[MonitorRun]] = []
        do_all(
            lambda: self._wait_for_last_samples(window_end_s),
            lambda: stopped.extend(self._on_all(self._stop_all)),
        )
        self._running = []
        self.clock = self._offsets()
        return tuple(run for runs in stopped for run in runs)

    def _wait_for_last_samples(self, window_end_s: float | None) -> None:
        if window_end_s is None:
            return
        deadline = time.monotonic() + LAST_SAMPLE_PERIODS * self._period_s
        waiting = list(self._running)
        while time.monotonic() < deadline and waiting:
            waiting = [one for one in waiting if not self._sampled_since(one, window_end_s)]
            if waiting:
                time.sleep(self._period_s / 10)

    def _on_all(self, act: Callable[[Machine], R]) -> list[R]:
        """On all machines side by side: each call of a host over SSH takes its time. Raises as `each_of`."""
        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            begun = [pool.submit(act, machine) for machine in self._machines]
        return each_of(begun, Future.result)

    def _clocks(self) -> dict[str, Reading]:
        return {
            machine.name: clock_of(machine.transport, machine.node) for machine in self._machines
        }

    def _start_all(self, machine: Machine) -> None:
        for kind in self._kinds:
            self._running.append(self._start(kind, machine))

    def _stop_all(self, machine: Machine) -> list[MonitorRun]:
        return each_of([one for one in self._running if one.machine is machine], self._stop)

    def _offsets(self) -> tuple[ClockOffset, ...]:
        if not self._clock_before:
            return ()
        after = self._clocks()
        return tuple(
            ClockOffset(
                host=machine.name,
                before_s=(before := self._clock_before[machine.name]).offset_s,
                after_s=after[machine.name].offset_s,
                method=_method_of(machine.transport, before, after[machine.name]),
            )
            for machine in self._machines
        )

    def _start(self, kind: str, machine: Machine) -> _Running:
        record, node, transport = self._context.record, machine.node, machine.transport
        file = record.monitor / f"{machine.name}.{kind}.csv"
        output = transport.at(node, file)
        transport.act(node, "make-folder", str(output.parent))
        tag, python = self._context.cluster.site.tag, transport.python(node)
        command = self._kinds[kind](machine.name, str(output), self._period_s, tag, python)
        logs = record.root / "logs"
        streams = logs / f"{machine.name}.{kind}.out", logs / f"{machine.name}.{kind}.err"
        process = transport.start(node, command, *streams)
        return _Running(kind, machine, process, file, streams, time.time())

    def _has_sampled(self, running: _Running, after_s: float, deadline: float) -> bool:
        """Waits for a sample: until the deadline, or the end of the monitor."""
        while not self._sampled_since(running, after_s):
            if time.monotonic() > deadline or not running.machine.transport.alive(running.process):
                return False
            time.sleep(self._period_s / 10)
        return True

    def _sampled_since(self, running: _Running, moment_s: float) -> bool:
        """Whether there is a sample of `moment_s` or later by the controller's clock."""
        last_s = running.last_s()
        offset_s = self._clock_before[running.machine.name].offset_s
        return last_s is not None and last_s - offset_s >= moment_s

    def _stop(self, running: _Running) -> MonitorRun:
        more = {"grace_s": DUMPED_WITHIN_S} if running.kind in WATCHING else {}
        running.machine.transport.stop(running.process, **more)
        for path in (running.file, *running.streams):  # complete now
            running.fetch(path)
        return MonitorRun(
            kind=running.kind,
            host=running.machine.name,
            file=f"monitor/{running.file.name}",
            period_s=self._period_s,
            started_epoch_s=running.started_s,
            stopped_epoch_s=time.time(),
            files=tuple(f"monitor/{path.name}" for path in _left(running)),
        )


def _left(running: _Running) -> Iterator[Path]:
    """What the device left beside its file, and what was made of that here: flame graphs, findings of
    rules."""
    text = running.file.read_text(errors="replace") if running.file.exists() else ""
    host = running.machine.name
    if running.kind == stalls.NAME:
        yield from _fetched(running, stalls.dumps(host, text))
    elif running.kind == profile.NAME:
        names = [profile.recording_name(running.kind, host, jvm) for jvm in profile.recorded(text)]
        for recording in _fetched(running, names):
            yield recording
            yield from flame_graphs(recording)
    elif running.kind == flight.NAME:
        jvms = {
            profile.recording_name(running.kind, host, jvm): jvm for jvm in flight.recorded(text)
        }
        found = {path: jvms[path.name] for path in _fetched(running, jvms)}
        if found:
            report = running.file.with_suffix(".rules.xml")
            with running.file.open("a", encoding="utf-8") as file:
                file.write(findings(found, report, time.time()))
            yield from (*found, report)


def _fetched(running: _Running, names: Iterable[str]) -> Iterator[Path]:
    """Fetches the monitor's files, and yields those that exist."""
    for name in names:
        path = running.file.with_name(name)
        running.fetch(path)
        if path.exists():
            yield path


def daemons_of(cluster: Cluster, machines: Sequence[Machine]) -> dict[str, dict[str, str]]:
    """The HTTP address of each daemon (<node>/<daemon>), by the machine: its guest, or its host. The client's
    machine queries those of an existing cluster."""
    names = {machine.name for machine in machines}
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for node in cluster.topology.nodes:
        guest = f"{node.name}.{node.host}"
        of_machine = found.get(guest if guest in names else node.host, {})
        for daemon, address in cluster.endpoints.all("jmx").items():
            if daemon.partition("/")[0] == node.name:
                of_machine[daemon] = address
    if others := cluster.endpoints.all("others.jmx"):
        found[cluster.topology.client.host].update(others)
    return found


def _method_of(transport: Transport, before: Reading, after: Reading) -> str:
    """Description of the measurement for the manifest."""
    if transport.same_kernel:
        return "same kernel"
    error_ms = 1000 * max(before.error_s, after.error_s)
    return f"shortest of {CLOCK_TRIES} round trips; error at most {error_ms:.1f} ms"
