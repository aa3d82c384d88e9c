"""Provider `local`: processes and directories of this machine stand in for nodes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Any

import psutil

from cluster.machine import directories, io_limits
from cluster.machine.describe import describe_disk, describe_machine
from cluster.machine.host_commands import HOST_COMMANDS
from cluster.machine.medium import check_disk
from cluster.machine.processes import stop_all
from cluster.machine.sockets import Address, check_free, is_taken, listener, reserved
from cluster.model.cluster import Site
from cluster.model.ports import Ports
from cluster.model.topology import Topology
from cluster.providers.emulation import prove
from cluster.providers.local.transport import LocalTransport
from cluster.providers.provider import (
    FreeResources,
    Leftovers,
    Machine,
    VcpuTime,
    machines_of_hosts,
)
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import InstallDirs, NodePaths
from cluster.state.events import DiskEmulated
from cluster.state.journal import Journal
from cluster.state.tags import tagged

GRACE_S = 2.0
"""Between TERM and KILL: enough for logs to be written; nothing of a throw-away cluster is saved."""
_SWEEPS = 5


class LocalProvider:
    def places(self, site: Site, topology: Topology) -> NodePaths:
        root = site.root.absolute()
        data = {node.name: directories.data_dir(site, node) for node in topology.nodes}
        return NodePaths(conf=root / "conf", logs=root / "logs", data=data)

    def there(self, topology: Topology, path: PurePath | str) -> str:
        return str(path)

    def homes(self, topology: Topology, stacks: Stacks) -> InstallDirs:
        return stacks.homes

    def intent(self, site: Site, topology: Topology) -> dict[str, Any]:
        return {}

    def check_leases(self, topology: Topology, tag: str) -> None:
        """Nothing: this machine's own lease (`cluster.state.lease`) is the controller's."""

    def check(self, topology: Topology, ports: Ports) -> None:
        check_free(ports.by_service.values())

    def preflight(self, topology: Topology, tag: str) -> None:
        """Nothing more: the controller's own preflight is this machine's."""

    def reserve(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        return reserved(ports.by_service.values())

    def room(self, topology: Topology) -> Mapping[str, FreeResources]:
        for disk in (disk for host in topology.hosts for disk in host.disks):
            check_disk(Path(disk.path))  # one that was unmounted since the plan was made
        return {
            host.name: FreeResources(
                psutil.virtual_memory().available // 2**20,
                {disk.path: HOST_COMMANDS["free-mib"](disk.path) for disk in host.disks},
            )
            for host in topology.hosts
        }

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        for node in topology.nodes:
            directories.make(site, node, journal)
            (site.root / "logs" / node.name).mkdir(parents=True, exist_ok=True)
        _emulate(site, topology, journal)

    def transport(self, site: Site, journal: Journal) -> LocalTransport:
        return LocalTransport(site.tag, journal)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        return machines_of_hosts(topology, self.transport(site, journal))

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, VcpuTime]:
        return {}

    def disclose(self, topology: Topology) -> dict[str, Any]:
        disks = {node.disk.path for node in topology.nodes if node.disk}
        return {
            "machine": describe_machine(),
            "disks": {path: describe_disk(path) for path in sorted(disks)},
        }

    def memory_mib(self, topology: Topology) -> int:
        memory: int = describe_machine()["memory_mib"]
        return memory

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        _stop_everything(site, journal)
        for path in _io_groups(site, journal):
            io_limits.remove(path)
        directories.remove(site, journal)
        return self._settled(site, journal)

    def remains(self, site: Site, journal: Journal) -> Leftovers:
        return Leftovers(
            processes=tuple(f"process {p.pid} ({p.name} on {p.node})" for p in tagged(site.tag)),
            directories=tuple(
                map(str, (*directories.made(site, journal), *_io_groups(site, journal)))
            ),
            ports=tuple(f"port {port} on {host}" for host, port in _ports_held(site, journal)),
        )

    def give_back(self, tag: str, journal: Journal) -> None:
        """Nothing: this machine's own lease is the controller's."""

    def _settled(self, site: Site, journal: Journal) -> Leftovers:
        """A killed process may take a moment to go, and its ports with it."""
        remains = self.remains(site, journal)
        for _ in range(20):
            if not remains:
                break
            time.sleep(0.05)
            remains = self.remains(site, journal)
        return remains


def provider() -> LocalProvider:
    return LocalProvider()


def _emulate(site: Site, topology: Topology, journal: Journal) -> None:
    """Limits on the workers' disks that have some, each proved by reads before anything uses it."""
    disks = {node.disk: node for node in topology.workers if node.disk and node.disk.limits}
    for disk, node in disks.items():
        assert disk.limits is not None
        path = io_limits.group(site.tag, disk.path)
        journal.intend("make-io-group", site.tag, path=str(path))
        held = io_limits.make(path, Path(disk.path), disk.limits)
        folder = str(directories.data_dir(site, node) / "tmp")
        told = prove(io_limits.LimitedReads(path), node, folder, disk.limits)
        told = {**told, "held_back": held}
        journal.record(DiskEmulated(tag=site.tag, disk=disk.path, told=told))


def _io_groups(site: Site, journal: Journal) -> list[Path]:
    """Of this build, those that still exist."""
    paths = {Path(intent.path) for intent in journal.intents("make-io-group", site.tag)}
    return sorted(path for path in paths if path.exists())


def _stop_everything(site: Site, journal: Journal) -> None:
    """Several sweeps: what a dying NodeManager still starts is found by the next."""
    for _ in range(_SWEEPS):
        processes = tagged(site.tag)
        if not processes:
            return
        stop_all(processes, GRACE_S)
        for process in processes:
            journal.write("process-stopped", pid=process.pid, start_ticks=process.start_ticks)


def _ports_held(site: Site, journal: Journal) -> Iterator[Address]:
    """Ports of this build on which a process of its tag still listens.

    Another process may have taken one since: that is nothing of ours.
    """
    ours = {process.pid for process in tagged(site.tag)}
    intents = journal.intents("build", site.tag)
    for host, port in {(host, port) for intent in intents for host, port in intent.ports}:
        if is_taken((host, port)) and listener(port) in ours:
            yield host, port
