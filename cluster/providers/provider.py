"""`Provider`: makes nodes out of hosts, and removes them. One folder and one line below per provider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PurePath
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, TypeVar

from density_study.cluster.machine.directories import cache_dir, data_dir, data_on
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import (
    AnyTopology,
    ExistingTopology,
    Node,
    Placed,
    Topology,
)
from density_study.cluster.model.transport import Transport
from density_study.cluster.plugins import class_named, names_of, unusable
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.blueprint import InstallDirs, NodePaths
from density_study.cluster.stack.machine_software import THIS_MACHINE, MachineSoftware
from density_study.cluster.state.journal import Journal

PlacedT = TypeVar("PlacedT", Topology, ExistingTopology)
NamedCheck = tuple[str, Callable[[], object]]
"""A line of the checklist before a run, and the act that raises a StudyError."""
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


def machines_of_hosts(topology: Placed, transport: Transport) -> tuple[Machine, ...]:
    """The hosts that carry nodes, which are all machines where no node is a guest."""
    first = {node.host: node for node in reversed(topology.nodes)}
    return tuple(Machine(host.name, first[host.name], transport) for host in topology.occupied)


class Provider(ABC, Generic[PlacedT]):
    """Makes nodes out of hosts, and removes them: its facts, four verbs, and two facts about the machines.

    Everything else has a default, which suits nodes that are hosts, or lie on this machine. `destroy`
    and `leftovers` work from the journal alone: any process may undo what another one created.
    """

    isolation: ClassVar[Isolation]
    """What keeps its nodes apart, from density 1 on."""
    bare: ClassVar[str] = ""
    """Name of the provider of its control variant: the bare host, density 0. Empty: it divides no host."""
    here: ClassVar[bool] = False
    """Nodes see this machine's files, under the same paths."""
    shares_hosts: ClassVar[bool] = False
    """Nodes share memory, disks and ports with the hosts' other programs."""
    leases_hosts: ClassVar[bool] = False
    """Runs on other controllers may use the same hosts, so that a run leases them."""
    slowest: ClassVar[float] = 1.0
    """How many times as long as estimated its builds may take."""
    cuts_hosts: ClassVar[bool] = False
    """A fault may cut a host off from the others."""
    slows_disks: ClassVar[bool] = False
    """A fault may slow down a node's disk."""
    simulates: ClassVar[bool] = False
    """Its clusters are a model, on which nothing runs."""

    no_network_factor: ClassVar[str] = ""
    """Why variants cannot differ in the network of its nodes; empty: they can."""
    fixed_of_network: ClassVar[tuple[str, str]] = ("", "")
    """A key of that factor which its nodes cannot have, and why; empty: they can have all."""

    @abstractmethod
    def create(self, site: Site, topology: PlacedT, journal: Journal) -> None:
        """Make the nodes and their directories. Each act is journalled before it is done."""

    @abstractmethod
    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        """Remove everything of this build; returns what could not be removed."""

    @abstractmethod
    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        """What `destroy` would remove. Changes nothing."""

    @abstractmethod
    def transport(self, site: Site, journal: Journal) -> Transport:
        """How to put files on the nodes, and to run programs there."""

    @abstractmethod
    def disclose(self, topology: PlacedT) -> dict[str, Any]:
        """What a stranger must know of the machines: kernel, CPU, memory, disks."""

    @abstractmethod
    def memory_mib(self, topology: PlacedT) -> int:
        """Memory of all machines together, which could cache the data set."""

    # Where the nodes do not see the controller's files.

    def node_paths(self, site: Site, topology: PlacedT) -> NodePaths:
        """Where the nodes' files will be. Pure."""
        root = site.root.absolute()
        data = {node.name: data_dir(site, node) for node in topology.nodes}
        more = {
            n.name: tuple(data_on(disk, site, n) for disk in n.more_disks) for n in topology.nodes
        }
        cache = {n.name: path for n in topology.nodes if (path := cache_dir(site, n))}
        return NodePaths(root / "conf", root / "logs", data, more, cache)

    def remote_path(self, topology: PlacedT, path: PurePath | str) -> str:
        """The nodes' path of a file of the controller's stacks. Pure."""
        return str(path)

    def software(self, topology: PlacedT) -> MachineSoftware:
        """Java and Redis of the nodes' machines."""
        return THIS_MACHINE

    # What hosts must have before anything starts. Checks start nothing and leave nothing.

    def checks(self, topology: PlacedT, tag: str) -> Iterator[NamedCheck]:
        """What hosts need beyond the controller."""
        yield from ()

    def worker_checks(self, topology: PlacedT, command: str) -> Iterator[NamedCheck]:
        """Checks that a host command succeeds on each worker's machine."""
        yield from ()

    def free_resources(self, topology: PlacedT) -> Mapping[str, FreeResources]:
        """What each host (by name) has free; hosts that are not asked are left out."""
        return {}

    def check_ports(self, topology: PlacedT, ports: Ports) -> None:
        """InputError if a port is taken."""

    def reserve_ports(self, topology: PlacedT, ports: Ports) -> AbstractContextManager[None]:
        """`check_ports`, and hold the ports against other studies while daemons take them."""
        return nullcontext()

    # Other users and other runs.

    def reachable_because(self) -> str:
        """Why every user of this machine reaches the daemons; empty if they do not."""
        return ""

    def network(self, site: Site, journal: Journal) -> str:
        """After `create`: the name of the build's own network, in which its addresses are; empty if they
        are this machine's."""
        return ""

    def check_leases(self, topology: PlacedT, tag: str) -> None:
        """HostBusyError if a live run other than `tag` holds a host."""

    def release_leases(self, tag: str, journal: Journal) -> None:
        """Release the hosts that the run `tag` holds, if any."""

    # What is read around a trial.

    def machines(self, site: Site, topology: PlacedT, journal: Journal) -> tuple[Machine, ...]:
        """What monitors watch: every host, and every guest with a kernel of its own."""
        return machines_of_hosts(topology, self.transport(site, journal))

    def guest_times(self, site: Site, topology: PlacedT) -> Mapping[str, NodeTime]:
        """CPU time so far of each node that is a guest or a container, as its host counts it."""
        return {}


EVERY_USER, THIS_USER = "every user of this machine", "this user of this machine"
"""Who reaches the daemons, for the disclosure."""

OF_OTHERS = names_of("provider")
"""The providers of other packages. Each is named as its entry point."""
OF_STUDIES = ("local", "physical", "libvirt", "container", "existing", *OF_OTHERS)
"""The providers that a study may name. The others stand in for one of them."""
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


@cache
def provider_of(name: str) -> Provider[Any]:
    """The one provider of that name; InputError if there is none."""
    if name in OF_OTHERS:
        if name in _PROVIDERS:
            raise unusable("provider", f"{name!r} is registered twice", name)
        # the type checker takes no abstract class for a type
        found: type[Provider[Any]] = class_named("provider", name, Provider)  # type: ignore[type-abstract]
        try:
            return found()
        except TypeError as error:  # a method is missing
            raise unusable("provider", str(error), name) from error
    if name not in _PROVIDERS:
        raise InputError(
            f"provider {name!r} does not exist.",
            "provider",
            f"use one of: {', '.join((*_PROVIDERS, *OF_OTHERS))}.",
        )
    provider: Provider[Any] = resolve_name(_PROVIDERS[name])()
    return provider


def out_of_memory(site: Site, topology: AnyTopology) -> list[str]:
    """A sentence for each container of which the kernel killed processes at its memory limit, since it was
    made. A host that does not tell yields nothing: the fault that is to be explained says more."""
    try:
        times = provider_of(topology.provider).guest_times(site, topology)
    except (StudyError, OSError):
        return []
    return [
        f"container {node.name} ran out of memory: at its limit of {node.memory_mib + GUEST_OS_MIB} MiB the "
        f"kernel killed {killed} of its processes"
        for node in topology.nodes
        if node.name in times and (killed := times[node.name].out_of_memory)
    ]


def node_paths(site: Site, topology: AnyTopology) -> NodePaths:
    """Where the nodes' files will be."""
    return provider_of(topology.provider).node_paths(site, topology)


def folders_of(topology: Topology, host: Host) -> list[str]:
    """The folders of a host's disks, and those in its memory that the topology uses."""
    return [*(disk.path for disk in host.disks), *topology.in_memory_mib(host)]


def install_dirs(topology: Topology, stacks: Stacks) -> InstallDirs:
    """Where Java and the stacks are on every node."""
    return stacks.install_dirs(partial(remote_path, topology))


def remote_path(topology: AnyTopology, path: PurePath | str) -> str:
    """The nodes' path of a file of the controller's stacks."""
    return provider_of(topology.provider).remote_path(topology, path)


def software_of(topology: AnyTopology) -> MachineSoftware:
    """What the machines of the topology's nodes have."""
    return provider_of(topology.provider).software(topology)
