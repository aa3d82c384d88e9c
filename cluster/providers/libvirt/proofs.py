"""Whether the drives of guests are what the study says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from density_study.cluster.machine.disk_type import Probe
from density_study.cluster.model.errors import StudyError, each_of
from density_study.cluster.model.host import Disk
from density_study.cluster.model.topology import Node
from density_study.cluster.providers.emulation import prove
from density_study.cluster.providers.libvirt.guests import DataDisk, Guest
from density_study.cluster.providers.ssh.channel import on_all
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.render.blueprint import NodePaths
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import acceleration


def prove_disks(
    transport: SshTransport, everyone: Sequence[Guest], places: NodePaths, journal: Journal
) -> None:
    """Probe each drive of the workers once, in one guest on it. StudyError with both figures for each
    drive that does not behave like its disk type, or whose limits do not hold.

    Hosts are probed side by side, the drives of a host one after the other: they may share a controller. In
    an emulated guest the figure is recorded but not judged: it describes the emulator.
    """
    emulated = "tcg" in acceleration(transport.tag, journal).values()

    def prove_drive(host: str, node: Node, drive: Disk, part: DataDisk, path: PurePath) -> None:
        disk, folder = f"{host}:{drive.path}", f"{path}/tmp"
        if part.limits is not None:
            proof = prove(transport, node, folder, part.limits)
            journal.record(DiskEmulated(tag=transport.tag, disk=disk, proof=proof))
            return
        probe = Probe(**transport.act(node, "probe", folder))
        read_ms = round(probe.random_4k_read_ms, 3)
        result = {"random_4k_read_ms": read_ms, "disk_type": probe.disk_type}
        journal.write("probed", tag=transport.tag, disk=disk, result=result)
        if not emulated and probe.disk_type not in (None, drive.disk_type):
            raise _wrong_disk_type(drive, probe, host)

    def prove_host(host: str, here: Sequence[Guest]) -> None:
        once: dict[Disk, tuple[Node, Disk, DataDisk, PurePath]] = {}
        for node, data in ((guest.node, guest.data) for guest in here):
            for drive, part, path in zip(node.disks, data, places.data_of(node), strict=True):
                once.setdefault(drive, (node, drive, part, path))
        each_of(once.values(), lambda one: prove_drive(host, *one))

    workers: dict[str, list[Guest]] = {}
    for guest in everyone:
        if "worker" in guest.node.roles:
            workers.setdefault(guest.node.host, []).append(guest)
    on_all(workers, prove_host)


def _wrong_disk_type(drive: Disk, probe: Probe, host: str) -> StudyError:
    return StudyError(
        f"the study declares {drive.disk_type}, but a random 4 KiB read in a guest took "
        f"{probe.random_4k_read_ms:.2f} ms, like {probe.disk_type}.",
        f"host {host!r}, disk {drive.path}",
        f"set disk_type: {probe.disk_type}, or use a disk of type {drive.disk_type}.",
    )
