"""`Provider`: makes nodes out of hosts, and removes them. One folder each, one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, Protocol

from cluster.model.cluster import Site
from cluster.model.errors import InputError
from cluster.model.ports import Ports
from cluster.model.topology import Node, Topology
from cluster.model.transport import Transport
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import InstallDirs, NodePaths
from cluster.state.journal import Journal


@dataclass(frozen=True)
class Leftovers:
    """What of a build is still there. Empty is the proof; a host that cannot be asked is none.

    `machines`: domains, volumes, pools and networks.
    """

    processes: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    unreachable_hosts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def all(self) -> tuple[str, ...]:
        return (
            *self.processes, *self.directories, *self.ports, *self.units, *self.machines,
            *self.unreachable_hosts,
        )  # fmt: skip

    @property
    def named(self) -> str:
        return ", ".join(self.all)


@dataclass(frozen=True)
class FreeResources:
    """What a host has free now, MiB: memory, and each folder's disk."""

    memory_mib: int
    disks_mib: Mapping[str, int]


@dataclass(frozen=True)
class Machine:
    """A kernel to be watched: a host, or a guest on one (named <node>.<host>: no host has a dot).
    `node` is one on it, through which `transport` reaches it."""

    name: str
    node: Node
    transport: Transport


@dataclass(frozen=True)
class VcpuTime:
    """CPU seconds that a guest's vCPUs had of their host, and that they waited for a core, by the host's own
    count."""

    cpu_s: float
    waited_s: float


def machines_of_hosts(topology: Topology, transport: Transport) -> tuple[Machine, ...]:
    """Where no node is a guest: the hosts."""
    on = {node.host: node for node in reversed(topology.nodes)}
    return tuple(Machine(host.name, on[host.name], transport) for host in topology.hosts)


class Provider(Protocol):
    """Everything is undone from the journal alone: who destroys need not be who created."""

    def places(self, site: Site, topology: Topology) -> NodePaths:
        """Where the nodes' files will be. Pure."""
        ...

    def there(self, topology: Topology, path: PurePath | str) -> str:
        """What the nodes call a path of the controller's stacks. Pure."""
        ...

    def homes(self, topology: Topology, stacks: Stacks) -> InstallDirs:
        """Where Java and the stacks are on every node."""
        ...

    def intent(self, site: Site, topology: Topology) -> dict[str, Any]:
        """What the journal must hold of a build, besides its ports, for `destroy` to find it."""
        ...

    def check_leases(self, topology: Topology, tag: str) -> None:
        """HostBusyError if another run than `tag` holds a host, and lives."""
        ...

    def check(self, topology: Topology, ports: Ports) -> None:
        """InputError if a port is taken, or a host lacks something. Starts nothing."""
        ...

    def preflight(self, topology: Topology, tag: str) -> None:
        """InputError if a host lacks what a build needs. Leaves nothing there."""
        ...

    def reserve(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        """`check`, and hold the ports against other studies while daemons take them."""
        ...

    def room(self, topology: Topology) -> Mapping[str, FreeResources]:
        """What each host (by name) has free. Starts nothing."""
        ...

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        """Make the nodes and their directories; each act is journalled before it is done."""
        ...

    def transport(self, site: Site, journal: Journal) -> Transport: ...

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """What monitors watch: every host, and every guest."""
        ...

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, VcpuTime]:
        """By node, so far; empty where no node is a guest."""
        ...

    def disclose(self, topology: Topology) -> dict[str, Any]:
        """What a stranger must know of the machines: kernel, CPU, memory, disks."""
        ...

    def memory_mib(self, topology: Topology) -> int:
        """Of all machines together: what could hold the data set."""
        ...

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        """Remove what the journal or the tag says is this build's; returns what is left."""
        ...

    def remains(self, site: Site, journal: Journal) -> Leftovers:
        """What `destroy` would remove. Changes nothing."""
        ...

    def give_back(self, tag: str, journal: Journal) -> None:
        """Release what the run `tag` holds against other runs; of what it never held, nothing."""
        ...


_MODULES = {
    "local": "cluster.providers.local.provider",
    "physical": "cluster.providers.physical.provider",
    "libvirt": "cluster.providers.libvirt.provider",
}


def provider_of(name: str) -> Provider:
    """The provider of that name; InputError if there is none."""
    if name not in _MODULES:
        raise InputError(
            f"there is no provider {name!r}.", "provider", f"use one of: {', '.join(_MODULES)}."
        )
    make: Callable[[], Provider] = import_module(_MODULES[name]).provider
    return make()
