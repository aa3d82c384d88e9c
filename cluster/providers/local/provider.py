"""Provider `local`: processes and directories of this machine stand in for nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import psutil

from density_study.cluster.machine import directories, io_limits
from density_study.cluster.machine.describe import describe_disk, describe_machine
from density_study.cluster.machine.disk_type import check_disk
from density_study.cluster.machine.host_commands import HOST_COMMANDS, free_disks
from density_study.cluster.machine.other_users import private_network
from density_study.cluster.machine.sockets import check_free, reserved
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import do_all
from density_study.cluster.model.host import Disk
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.emulation import prove
from density_study.cluster.providers.local.network import door_left, open_network
from density_study.cluster.providers.local.transport import (
    LocalTransport,
    PrivateTransport,
    network_of,
)
from density_study.cluster.providers.provider import (
    EVERY_USER,
    THIS_USER,
    FreeResources,
    Leftovers,
    NamedCheck,
    Provider,
    folders_of,
)
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged


class LocalProvider(Provider[Topology]):
    isolation = Isolation.PROCESS
    here = True
    shares_hosts = True
    slows_disks = True
    keeps_folders = True
    no_network_factor = (
        "process groups share the loopback interface of this machine; use provider container or "
        "physical"
    )

    def worker_checks(self, topology: Topology, command: str) -> Iterator[NamedCheck]:
        yield f"{command} on workers of {topology.name}", HOST_COMMANDS[command]

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        if self.reachable_because():
            check_free(ports.by_service.values())

    def reserve_ports(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        if self.reachable_because():
            return reserved(ports.by_service.values())
        return nullcontext()  # the build's network has them all

    def reachable_because(self) -> str:
        return private_network.obstacle()

    def network(self, site: Site, journal: Journal) -> str:
        return network_of(site.tag, journal)

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        for disk in (disk for host in topology.hosts for disk in host.disks):
            check_disk(Path(disk.path))  # one that was unmounted since the plan was made
            directories.check_programs([disk.path])
        return {
            host.name: FreeResources.of(
                psutil.virtual_memory().available // 2**20, free_disks(folders_of(topology, host))
            )
            for host in topology.hosts
        }

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        for node in topology.nodes:
            directories.make(site, node, journal)
            (site.root / "logs" / node.name).mkdir(parents=True, exist_ok=True)
        open_network(site, journal)
        _emulate(site, topology, journal)

    def make_kept_folder(
        self, site: Site, node: Node, folder: PurePath, inner: str, journal: Journal
    ) -> None:
        directories.make_folder(Path(folder), site, journal)
        Path(folder / inner).mkdir(parents=True)

    def remove_kept_folder(
        self, site: Site, node: Node, folder: PurePath, journal: Journal
    ) -> None:
        directories.remove(site, journal, folder.name)

    def transport(self, site: Site, journal: Journal) -> LocalTransport:
        return PrivateTransport(site.tag, journal)

    def disclose(self, topology: Topology) -> dict[str, Any]:
        used = (disk for node in topology.nodes for disk in (node.disk, node.cache_disk))
        disks = {disk.path for disk in used if disk}
        return {
            "machine": describe_machine(),
            "disks": {path: describe_disk(path) for path in sorted(disks)},
            "reachable_by": EVERY_USER if self.reachable_because() else THIS_USER,
        }

    def memory_mib(self, topology: Topology) -> int:
        memory: int = describe_machine()["memory_mib"]
        return memory

    def destroy(self, site: Site, journal: Journal) -> None:
        do_all(
            LocalTransport(site.tag, journal).stop_tagged,
            *(partial(io_limits.remove, path) for path in _io_groups(site, journal)),
            lambda: directories.remove(site, journal),
            *(partial(door.unlink, missing_ok=True) for door in door_left(site.tag)),
        )

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        builds = journal.intents("build", site.tag)
        ports = {address for build in builds for address in build.ports}
        listening = HOST_COMMANDS["listening"](ports, site.tag)
        return (
            *map(str, tagged(site.tag)),
            *map(str, (*directories.made(site, journal), *_io_groups(site, journal))),
            *map(str, door_left(site.tag)),
            *(f"port {port} on {host}" for host, port in listening),
        )


def _emulate(site: Site, topology: Topology, journal: Journal) -> None:
    """Limits on the workers' disks that have some, each proved by reads before anything uses it."""
    proved: set[Disk] = set()
    for node in topology.workers:
        limited = {disk: disk.limits for disk in node.disks if disk.limits is not None}
        if node.disk not in limited or proved.issuperset(limited):
            continue
        path = io_limits.group(site.tag, node.lead_drive)
        journal.intend("make-io-group", site.tag, path=str(path))
        held = [io_limits.make(path, Path(disk.path), limits) for disk, limits in limited.items()]
        for (disk, limits), how in zip(limited.items(), held, strict=True):
            folder = str(directories.data_on(disk, site, node) / "tmp")
            proof = prove(io_limits.LimitedReads(path), node, folder, limits)
            proof["held_back"] = how
            journal.record(DiskEmulated(tag=site.tag, disk=disk.path, proof=proof))
            proved.add(disk)


def _io_groups(site: Site, journal: Journal) -> list[Path]:
    """The I/O groups of this build that still exist."""
    paths = {Path(intent.path) for intent in journal.intents("make-io-group", site.tag)}
    return sorted(path for path in paths if path.exists())
