"""Emulated media: disks with limits, measured before use and labelled "emulated" wherever they appear.

QEMU limits a guest's data disk (libvirt's iotune), reads and writes. On this machine a cgroup limits
processes; version 1 does not limit buffered writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cluster.model.errors import StudyError
from cluster.model.host import IoLimits
from cluster.model.topology import Node
from cluster.state.events import DiskEmulated
from cluster.state.journal import Journal

TOLERANCE = 0.05
SECONDS = 6.0
SMALL_BYTES, LARGE_BYTES = 4096, 2**20


@dataclass(frozen=True)
class Measured:
    """One limit: the value set and the value measured by reads, in `unit`."""

    limit: str
    asked: float
    seen: float
    unit: str

    @property
    def holds(self) -> bool:
        return abs(self.seen - self.asked) <= TOLERANCE * self.asked

    def to_json(self) -> dict[str, Any]:
        return {"asked": self.asked, "seen": round(self.seen, 2), "unit": self.unit}


class Reads(Protocol):
    """Runs `read-rate`: a transport, or a cgroup with limits on this machine."""

    def act(self, node: Node, name: str, *arguments: Any) -> Any: ...


def measure(transport: Reads, node: Node, folder: str, limits: IoLimits) -> tuple[Measured, ...]:
    """Measure each read limit in `folder` on `node`: small reads for operations, large ones for MiB."""
    found = []
    if limits.read_iops is not None:
        rate = transport.act(node, "read-rate", folder, SMALL_BYTES, SECONDS)
        found.append(Measured("read_iops", limits.read_iops, rate["iops"], "reads/s"))
    if limits.read_mib_s is not None:
        rate = transport.act(node, "read-rate", folder, LARGE_BYTES, SECONDS)
        found.append(Measured("read_mib_s", limits.read_mib_s, rate["mib_s"], "MiB/s"))
    return tuple(found)


def prove(transport: Reads, node: Node, folder: str, limits: IoLimits) -> dict[str, Any]:
    """Limits and measured values for the manifest. StudyError with both if they differ by over 5 %."""
    measured = measure(transport, node, folder, limits)
    for one in measured:
        if not one.holds:
            raise StudyError(
                f"emulated disk: {one.limit} is set to {one.asked:g} {one.unit}, "
                f"but {one.seen:.1f} {one.unit} was measured.",
                f"node {node.name!r}, {folder}",
                "set a limit below what the disk itself can do, or remove it.",
            )
    figures: Mapping[str, Any] = {one.limit: one.to_json() for one in measured}
    return {"emulated": True, "limits": limits.to_json(), "measured": figures}


def emulated_of(tag: str, journal: Journal) -> dict[str, Any]:
    """Proved limits of a build's emulated disks, for the disclosure; empty if it has none."""
    return {disk.disk: disk.told for disk in journal.events(DiskEmulated) if disk.tag == tag}
