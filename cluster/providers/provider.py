"""`Provider`: makes nodes out of hosts, and removes them. One folder and one line below per provider."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from pkgutil import resolve_name
from typing import Any, Protocol, runtime_checkable

from density_study.cluster.machine.directories import cache_dir, data_dir, data_on
from density_study.cluster.model.cluster import Endpoints, Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.model.versions import Versions
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.blueprint import InstallDirs, NodePaths
from density_study.cluster.stack.machine_software import THIS_MACHINE, MachineSoftware
from density_study.cluster.state.journal import Journal

GRACE_S = 2.0
"""Between TERM and KILL: enough for logs to be written; nothing of a throw-away cluster is saved."""
Leftovers = tuple[str, ...]
"""Descriptions of what of a build still exists: processes, directories, ports, units, libvirt's resources.
Empty proves its removal; an unreachable host counts as left."""


@dataclass(frozen=True)
class FreeResources:
    """What a host has free now, MiB: memory, and each folder's disk."""

    memory_mib: int
    disks_mib: Mapping[str, int]


@dataclass(frozen=True)
class Machine:
    """A kernel to be watched: a host, or a guest on one (named <node>.<host>: no host has a dot).
    `transport` reaches it through `node`."""

    name: str
    node: Node
    transport: Transport


@dataclass(frozen=True)
class NodeTime:
    """Seconds that a guest's vCPUs or a container's processes ran on cores of the host, and waited, as the
    host counts them: vCPUs for a core, containers that have used up their quota for the next period.

    out_of_memory: a container's processes that the kernel killed at its memory limit; None of a guest.
    """

    cpu_s: float
    waited_s: float
    out_of_memory: int | None = None


def machines_of_hosts(topology: Topology, transport: Transport) -> tuple[Machine, ...]:
    """The hosts, which are all machines where no node is a guest."""
    first = {node.host: node for node in reversed(topology.nodes)}
    return tuple(Machine(host.name, first[host.name], transport) for host in topology.hosts)


class Provider(Protocol):
    """Makes nodes out of hosts, and removes them.

    `destroy` and `leftovers` work from the journal alone: any process may undo what another one created.
    A provider may have further capabilities, the protocols below. Callers test for them with `isinstance`.
    """

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        """Make the nodes and their directories. Each act is journalled before it is done."""

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        """Remove everything of this build; returns what could not be removed."""

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        """What `destroy` would remove. Changes nothing."""

    def transport(self, site: Site, journal: Journal) -> Transport: ...

    def disclose(self, topology: Topology) -> dict[str, Any]:
        """What a stranger must know of the machines: kernel, CPU, memory, disks."""

    def memory_mib(self, topology: Topology) -> int:
        """Memory of all machines together, which could cache the data set."""


@runtime_checkable
class Paths(Protocol):
    """The nodes do not see the controller's files. The functions with the same names have the defaults."""

    def node_paths(self, site: Site, topology: Topology) -> NodePaths:
        """Where the nodes' files will be. Pure."""

    def remote_path(self, topology: Topology, path: PurePath | str) -> str:
        """The nodes' path of a file of the controller's stacks. Pure."""

    def software(self, topology: Topology) -> MachineSoftware:
        """Java and Redis of the nodes' machines."""


@runtime_checkable
class Preflight(Protocol):
    """Hosts need more than the controller itself."""

    def preflight(self, topology: Topology, tag: str) -> None:
        """InputError if a host lacks what a build needs. Leaves nothing there."""


@runtime_checkable
class WorkerChecks(Protocol):
    """Something may be done to the machines of workers during a trial."""

    def check_workers(self, topology: Topology, command: str) -> None:
        """Run a host command on each worker's machine; it raises InputError. Starts nothing."""


@runtime_checkable
class Capacity(Protocol):
    """Nodes share memory, disks and ports with the hosts' other programs."""

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        """What each host (by name) has free. Starts nothing."""

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """InputError if a port is taken. Starts nothing."""

    def reserve_ports(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        """`check_ports`, and hold the ports against other studies while daemons take them."""


EVERY_USER, THIS_USER = "every user of this machine", "this user of this machine"
"""Who reaches the daemons, for the disclosure."""


@runtime_checkable
class PrivateNetwork(Protocol):
    """Nodes are on this machine, which other users may share."""

    def reachable_because(self) -> str:
        """Why every user of this machine reaches the daemons; empty if they do not."""

    def network(self, site: Site, journal: Journal) -> str:
        """After `create`: the name of the build's own network, in which its addresses are; empty if they
        are this machine's."""


@runtime_checkable
class Leases(Protocol):
    """Runs on other controllers may use the same hosts."""

    def check_leases(self, topology: Topology, tag: str) -> None:
        """HostBusyError if a live run other than `tag` holds a host."""

    def release_leases(self, tag: str, journal: Journal) -> None:
        """Release the hosts that the run `tag` holds, if any."""


@runtime_checkable
class Watched(Protocol):
    """Monitors watch other machines than the nodes' hosts."""

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """What monitors watch: every host, and every guest with a kernel of its own."""


@runtime_checkable
class Guests(Watched, Protocol):
    """Nodes are guests or containers, whose CPU time their hosts count."""

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, NodeTime]:
        """Each node's CPU time so far."""


@dataclass(frozen=True)
class Joined:
    """A given cluster as it answers now. `client_conf`: folder with its clients' configuration. `seen`: for
    the disclosure."""

    versions: Versions
    endpoints: Endpoints
    client_conf: Path
    seen: Mapping[str, Any]


@runtime_checkable
class Given(Protocol):
    """The cluster stands already: nothing is rendered and no daemon is started."""

    def check_given(self, topology: Topology, needed_mib: int, for_s: float) -> None:
        """StudyError if the cluster does not answer, has no room for the study's data, or does not let its
        clients in for as long as the study takes. Changes nothing."""

    def versions(self, topology: Topology) -> Versions:
        """The cluster's own. StudyError if it does not answer."""

    def join(self, site: Site, topology: Topology) -> Joined:
        """How to reach it, after `create`. StudyError if it does not answer."""


_PROVIDERS = {
    "local": "density_study.cluster.providers.local.provider:LocalProvider",
    "physical": "density_study.cluster.providers.physical.provider:PhysicalProvider",
    "container": "density_study.cluster.providers.container.provider:ContainerProvider",
    "container-ssh": "density_study.cluster.providers.container.over_ssh:ContainerOverSshProvider",
    "libvirt": "density_study.cluster.providers.libvirt.provider:LibvirtProvider",
    "existing": "density_study.cluster.providers.existing.provider:ExistingProvider",
    "endpoint": "density_study.cluster.providers.existing.endpoint:EndpointProvider",
    "simulated": "density_study.cluster.providers.simulated.provider:SimulatedProvider",
}


def provider_of(name: str) -> Provider:
    """The provider of that name; InputError if there is none."""
    if name not in _PROVIDERS:
        raise InputError(
            f"provider {name!r} does not exist.",
            "provider",
            f"use one of: {', '.join(_PROVIDERS)}.",
        )
    provider: Provider = resolve_name(_PROVIDERS[name])()
    return provider


def out_of_memory(site: Site, topology: Topology) -> list[str]:
    """A sentence for each container of which the kernel killed processes at its memory limit, since it was
    made. A host that does not tell yields nothing: the fault that is to be explained says more."""
    provider = provider_of(topology.provider)
    if not isinstance(provider, Guests):
        return []
    try:
        times = provider.guest_times(site, topology)
    except (StudyError, OSError):
        return []
    return [
        f"container {node.name} ran out of memory: at its limit of {node.memory_mib + GUEST_OS_MIB} MiB the "
        f"kernel killed {killed} of its processes"
        for node in topology.nodes
        if node.name in times and (killed := times[node.name].out_of_memory)
    ]


def node_paths(site: Site, topology: Topology) -> NodePaths:
    """Where the nodes' files will be."""
    provider = provider_of(topology.provider)
    if isinstance(provider, Paths):
        return provider.node_paths(site, topology)
    root = site.root.absolute()
    data = {node.name: data_dir(site, node) for node in topology.nodes}
    more = {n.name: tuple(data_on(disk, site, n) for disk in n.more_disks) for n in topology.nodes}
    cache = {n.name: path for n in topology.nodes if (path := cache_dir(site, n))}
    return NodePaths(root / "conf", root / "logs", data, more, cache)


def folders_of(topology: Topology, host: Host) -> list[str]:
    """The folders of a host's disks, and those in its memory that the topology uses."""
    return [*(disk.path for disk in host.disks), *topology.in_memory_mib(host)]


def install_dirs(topology: Topology, stacks: Stacks) -> InstallDirs:
    """Where Java and the stacks are on every node."""
    return stacks.install_dirs(partial(remote_path, topology))


def remote_path(topology: Topology, path: PurePath | str) -> str:
    """The nodes' path of a file of the controller's stacks."""
    provider = provider_of(topology.provider)
    return provider.remote_path(topology, path) if isinstance(provider, Paths) else str(path)


def software_of(topology: Topology) -> MachineSoftware:
    """What the machines of the topology's nodes have."""
    provider = provider_of(topology.provider)
    return provider.software(topology) if isinstance(provider, Paths) else THIS_MACHINE
