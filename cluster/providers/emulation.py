"""Emulated disks: disks with limits, measured before use and labelled "emulated" wherever they appear.

QEMU limits a guest's data disk (libvirt's iotune), reads and writes. On this machine a cgroup limits
processes; version 1 does not limit buffered writes.
"""

from __future__ import annotations

from typing import Any, Protocol

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import IoLimits
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal

TOLERANCE = 0.05
SECONDS = 6.0
SMALL_BYTES, LARGE_BYTES = 4096, 2**20


class Reads(Protocol):
    """Runs `read-rate`: a transport, or a cgroup with limits on this machine."""

    def act(self, node: Node, name: str, *arguments: Any) -> Any: ...


def measure(
    transport: Reads, node: Node, folder: str, limits: IoLimits
) -> dict[str, dict[str, Any]]:
    """Each read limit and its value measured in `folder` on `node`: small reads for operations, large ones
    for MiB."""
    measured = {}
    for limit, asked, block_bytes, key, unit in (
        ("read_iops", limits.read_iops, SMALL_BYTES, "iops", "reads/s"),
        ("read_mib_s", limits.read_mib_s, LARGE_BYTES, "mib_s", "MiB/s"),
    ):
        if asked is not None:
            rate = transport.act(node, "read-rate", folder, block_bytes, SECONDS)
            measured[limit] = {"asked": asked, "seen": round(rate[key], 2), "unit": unit}
    return measured


def prove(transport: Reads, node: Node, folder: str, limits: IoLimits) -> dict[str, Any]:
    """Limits and measured values for the manifest. StudyError with both if they differ by over 5 %."""
    measured = measure(transport, node, folder, limits)
    for limit, value in measured.items():
        asked, seen, unit = value["asked"], value["seen"], value["unit"]
        if abs(seen - asked) > TOLERANCE * asked:
            raise StudyError(
                f"emulated disk: {limit} is set to {asked:g} {unit}, but {seen:.1f} {unit} was measured.",
                f"node {node.name!r}, {folder}",
                "set a limit below what the disk itself can do, or remove it.",
            )
    return {"emulated": True, "limits": limits.to_json(), "measured": measured}


def emulated_of(tag: str, journal: Journal) -> dict[str, Any]:
    """Proved limits of a build's emulated disks, for the disclosure; empty if it has none."""
    return {disk.disk: disk.proof for disk in journal.events(DiskEmulated) if disk.tag == tag}


def pmem_of(topology: Topology) -> dict[str, Any]:
    """Folders in memory that stand in for persistent memory, for the disclosure; empty without any."""
    folders = sorted({folder for host in topology.hosts for folder in topology.in_memory_mib(host)})
    return {folder: {"emulated": True, "stands_in_for": "persistent memory"} for folder in folders}
