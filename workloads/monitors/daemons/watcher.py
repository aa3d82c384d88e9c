"""`Watcher`: what a device that watches daemons does, and its command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.transport import Command
from density_study.workloads.monitors.devices import device_command

MODULE = "density_study.workloads.monitors.daemons.sampler"


@dataclass(frozen=True)
class Order:
    """`tag`: that of the build whose daemons are watched. output: the device's file; what else it leaves lies
    beside it. daemons: HTTP address of each one on this machine. library: the profiler."""

    host: str
    tag: str
    output: Path
    daemons: Mapping[str, str]
    ca_file: str
    library: Path


class Watcher(Protocol):
    """Made from an `Order`. `head`: the file's first lines."""

    head: str

    def begin(self) -> None:
        """OSError if a daemon cannot be watched."""

    def rows(self, epoch_s: float) -> str:
        """Whole lines: a round, and what was seen since the last one."""

    def last_rows(self, epoch_s: float) -> str:
        """The same, when the trial is over."""

    def end(self) -> None:
        """Leaves the daemons as they were, also when `begin` has failed. Some may have been killed."""


def watcher_command(
    host: str,
    output: str,
    period_s: float,
    tag: str,
    python: tuple[str, ...],
    *,
    device: str,
    daemons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    access: Access = OPEN,
    profiler: Mapping[str, str] = MappingProxyType({}),
) -> Command:
    """Runs the watcher of a device. daemons: those of each machine, with their HTTP address. profiler: its
    path on each machine."""
    command = device_command(
        host, output, period_s, tag, python,
        device=device, module=MODULE, daemons=daemons, access=access,
    )  # fmt: skip
    library = ("--library", profiler[host]) if host in profiler else ()
    return replace(command, argv=(*command.argv, "--tag", tag, *library))
