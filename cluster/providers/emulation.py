"""Emulated media: limits put on a disk, measured before use, and called emulated wherever they show.

A guest's data disk is limited by QEMU (libvirt's iotune): reads and writes both. A process of this
machine would be limited by a cgroup; version 1 does not hold back buffered writes.
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
    """One limit: what was asked for and what reads showed, in `unit`."""

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
    """What can be asked for `read-rate`: a transport, or a group with limits of this machine."""

    def act(self, node: Node, name: str, *arguments: Any) -> Any: ...


def measure(transport: Reads, node: Node, folder: str, limits: IoLimits) -> tuple[Measured, ...]:
    """Reads of `node` in `folder` against each read limit; small ones for operations, large for MiB."""
    found = []
    if limits.read_iops is not None:
        rate = transport.act(node, "read-rate", folder, SMALL_BYTES, SECONDS)
        found.append(Measured("read_iops", limits.read_iops, rate["iops"], "reads/s"))
    if limits.read_mib_s is not None:
        rate = transport.act(node, "read-rate", folder, LARGE_BYTES, SECONDS)
        found.append(Measured("read_mib_s", limits.read_mib_s, rate["mib_s"], "MiB/s"))
    return tuple(found)


def prove(transport: Reads, node: Node, folder: str, limits: IoLimits) -> dict[str, Any]:
    """For the manifest: limits and figures. StudyError with both figures if one is over 5 % off."""
    measured = measure(transport, node, folder, limits)
    for one in measured:
        if not one.holds:
            raise StudyError(
                f"emulated disk: {one.limit} of {one.asked:g} {one.unit} was asked for, "
                f"{one.seen:.1f} {one.unit} measured.",
                f"node {node.name!r}, {folder}",
                "ask for a limit that the disk itself can pass, or for none.",
            )
    figures: Mapping[str, Any] = {one.limit: one.to_json() for one in measured}
    return {"emulated": True, "limits": limits.to_json(), "measured": figures}


def emulated_of(tag: str, journal: Journal) -> dict[str, Any]:
    """For the disclosure: what was proved of a build's emulated disks; empty if it has none."""
    return {disk.disk: disk.told for disk in journal.events(DiskEmulated) if disk.tag == tag}
