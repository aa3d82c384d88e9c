"""The monitors of every trial, and the telemetry devices that a study may add.

To add one, write its module and add its command to MONITORS or DEVICES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Protocol

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.transport import Command
from density_study.workloads.base.parsing import RejectedError, decimal
from density_study.workloads.monitors.daemons.watcher import watcher_command
from density_study.workloads.monitors.devices import device_command, devices
from density_study.workloads.monitors.dool import dool_command
from density_study.workloads.monitors.nodecpu import nodecpu_command


class MonitorCommand(Protocol):
    """Makes the command of a program that samples one host into a file."""

    def __call__(
        self, host: str, output: str, period_s: float, tag: str, python: tuple[str, ...]
    ) -> Command:
        """The command that writes `output`, a CSV file, until TERM. The first cell of each sample is its
        time in epoch seconds.

        period_s: seconds between samples. tag: tag of the build with the processes to watch.
        python: start of a command line that runs Python modules on that host (`Transport.python`).
        """


# Devices that every trial has: what they cost is in the thousandths of a core (tests/bench/devices.py).
DEFAULT_DEVICES = ("pressure", "disks", "sockets", "kernel", "limits")
# Monitors by their names in records and file names (`<host>.<kind>.csv`).
MONITORS: Mapping[str, MonitorCommand] = MappingProxyType(
    {
        "dool": dool_command,
        "nodecpu": nodecpu_command,
        **{name: partial(device_command, device=name) for name in ("canary", *DEFAULT_DEVICES)},
    }
)
# Of an existing cluster's Prometheus alone.
EXPORTED = ("exported",)
# Devices that watch daemons which the study has started: their JVMs, threads and logs.
WATCHING = ("gc", "profile", "jfr", "stalls", "slowlog")
# Of these, what makes JVMs record themselves, which costs them time. The others only look.
RECORDING = ("profile", "jfr")
# Telemetry devices by their names in `monitor.also`, where the default ones change nothing: see devices.toml
# and daemons/.
DEVICES = (*(name for name in devices() if name not in ("canary", *EXPORTED)), *WATCHING)


def with_devices(
    names: Iterable[str],
    daemons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    profiler: Mapping[str, str] = MappingProxyType({}),
    access: Access = OPEN,
) -> Mapping[str, MonitorCommand]:
    """The default monitors and these devices. daemons: those of each machine, with their HTTP address.
    profiler: its path on each machine. access: to the daemons."""
    sampled = {
        name: partial(device_command, device=name, daemons=daemons, access=access)
        for name in DEVICES
        if name in devices()
    }
    watching = {
        name: partial(
            watcher_command, device=name, daemons=daemons, access=access, profiler=profiler
        )
        for name in WATCHING
    }
    known: Mapping[str, MonitorCommand] = {**sampled, **watching}
    return {**MONITORS, **{name: known[name] for name in names}}


def last_epoch_s(text: str) -> float | None:
    """Time of the last complete sample in a monitor's file that is still being written; None before the
    first."""
    for line in reversed(text.split("\n")[:-1]):
        try:
            return decimal(line.partition(",")[0])
        except RejectedError:
            continue
    return None
