"""CPU of the default monitors and of each telemetry device beside a standing cluster, in percent of a core.

The sampler's own, and for devices that ask daemons also what those spend on their answers: the daemons of an
idle cluster are watched with and without it, in turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.provider import machines_of_hosts, provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.workloads.execution.jvm_recordings import put_profiler
from density_study.workloads.execution.monitoring import daemons_of
from density_study.workloads.monitors import (
    DEVICES,
    MONITORS,
    WATCHING,
    MonitorCommand,
    with_devices,
)
from tests.bench.measurement import Measurement, at_most, printed
from tests.live.support.builds import open_build, topology

GOAL_PERCENT = 1.0
WATCH_S = 15.0
START_S = 3.0  # Python's own start is no cost of a second
ASKED = ("jmx", *WATCHING)
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def bench(repeats: int) -> list[Measurement]:
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name:
        folder = Path(name)
        site, journal = open_build(folder, os.getpid())
        try:
            cluster = bring_up(site, topology(folder), ensure_stacks(), journal)
            transport = provider_named("local").transport(site, journal)
            machines = machines_of_hosts(cluster.topology, transport)
            profiler = put_profiler(site, machines)
            commands = with_devices(DEVICES, daemons_of(cluster, machines), profiler)
            watch = _Watch(cluster, commands, folder)
            runs = {name: [watch.percent(name) for _ in range(repeats)] for name in watch.names}
        finally:
            tear_down(site, journal)
    own = {name: [one[0] for one in of] for name, of in runs.items()}
    default = [sum(both) for both in zip(*(own[name] for name in MONITORS), strict=True)]
    return [
        at_most("default monitors together", "% of a core", default, GOAL_PERCENT),
        *(printed(f"monitor {name}", "% of a core", own[name]) for name in MONITORS),
        *(printed(f"device {name}", "% of a core", own[name]) for name in DEVICES),
        *(
            printed(f"device {name}, in the daemons", "% of a core", [one[1] for one in runs[name]])
            for name in ASKED
        ),
    ]


class _Watch:
    def __init__(
        self, cluster: Cluster, commands: Mapping[str, MonitorCommand], folder: Path
    ) -> None:
        self._cluster, self._folder, self._commands = cluster, folder, commands
        self.names = tuple(commands)

    def percent(self, name: str) -> tuple[float, float]:
        """CPU of one monitor, and how much more the daemons that it asks spent meanwhile than before."""
        host = self._cluster.topology.hosts[0].name
        tag, output = self._cluster.site.tag, self._folder / f"{name}.csv"
        command = self._commands[name](host, str(output), 1.0, tag, (sys.executable,))
        daemons = [process.pid for process in self._cluster.processes] if name in ASKED else []
        before = _spent_percent(daemons) if daemons else []
        monitor = subprocess.Popen(command.argv, env={**os.environ, **command.env},
                                   stdout=subprocess.DEVNULL)  # fmt: skip
        try:
            time.sleep(START_S)
            own = _spent_percent([monitor.pid, *daemons])
        finally:
            monitor.terminate()
            monitor.wait()
        return own[0], sum(own[1:]) - sum(before)


def _spent_percent(pids: Iterable[int]) -> list[float]:
    """CPU of each process for WATCH_S, in percent of a core."""
    begun = {pid: _ticks(pid) for pid in pids}
    time.sleep(WATCH_S)
    return [100 * (_ticks(pid) - ticks) / _TICKS_PER_S / WATCH_S for pid, ticks in begun.items()]


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
