"""The medium of a guest's data disk, measured by reads in the guest before anything uses it."""

from __future__ import annotations

from cluster.machine.medium import Probe
from cluster.model.errors import StudyError
from cluster.model.host import Disk
from cluster.model.topology import Topology
from cluster.providers.emulation import prove
from cluster.providers.ssh.transport import SshTransport
from cluster.render.blueprint import NodePaths
from cluster.state.events import DiskEmulated
from cluster.state.journal import Journal
from cluster.state.timeout_scale import acceleration


def prove_disks(
    transport: SshTransport, topology: Topology, places: NodePaths, journal: Journal
) -> None:
    """Probe each drive of the workers once, in one guest on it. StudyError with both figures if a drive
    does not behave like its medium, or its limits do not hold.

    In an emulated guest the figure is recorded but not judged: it describes the emulator.
    """
    emulated = "tcg" in acceleration(transport.tag, journal).values()
    seen: set[tuple[str, Disk]] = set()
    for node in topology.workers:
        if node.disk is None or (node.host, node.disk) in seen:
            continue
        seen.add((node.host, node.disk))
        disk, folder = f"{node.host}:{node.disk.path}", f"{places.data[node.name]}/tmp"
        if node.disk.limits is not None:
            proof = prove(transport, node, folder, node.disk.limits)
            journal.record(DiskEmulated(tag=transport.tag, disk=disk, proof=proof))
            continue
        probe = Probe(**transport.act(node, "probe", folder))
        read_ms = round(probe.random_4k_read_ms, 3)
        result = {"random_4k_read_ms": read_ms, "medium": probe.medium}
        journal.write("probed", tag=transport.tag, disk=disk, result=result)
        if not emulated and probe.medium not in (None, node.disk.medium):
            raise StudyError(
                f"the study says {node.disk.medium}, but a random 4 KiB read in a guest took "
                f"{read_ms:.2f} ms, like {probe.medium}.",
                f"host {node.host!r}, disk {node.disk.path}",
                f"set medium: {probe.medium}, or use a disk that is {node.disk.medium}.",
            )
