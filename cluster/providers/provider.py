"""`Provider`: makes nodes out of hosts, and removes them. One folder per provider, which names it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path, PurePath
from pkgutil import iter_modules, resolve_name
from typing import Any, Generic, TypeVar

from density_study.cluster.machine.directories import cache_dir, data_dir, data_on
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.provider import ProviderKind
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
    """What a host has free now, MiB: memory, and each folder's disk. Folders of one device share its space;
    one without a device has a disk of its own."""

    memory_mib: int
    disks_mib: Mapping[str, int]
    devices: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, memory_mib: int, disks: Mapping[str, Sequence[int]]) -> FreeResources:
        """`disks`: what the host command `free-disks` answers."""
        free, devices = ({path: both[at] for path, both in disks.items()} for at in (0, 1))
        return cls(memory_mib, free, devices)

    def shared(self) -> Collection[list[str]]:
        """The folders, those of one device together."""
        found: dict[int | str, list[str]] = {}
        for path in self.disks_mib:
            found.setdefault(self.devices.get(path, path), []).append(path)
        return found.values()


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


class Provider(ProviderKind, ABC, Generic[PlacedT]):
    """Makes nodes out of hosts, and removes them: four verbs, and two facts about the machines.

    Everything else has a default, which suits nodes that are hosts, or lie on this machine. `destroy`
    and `leftovers` need only the journal: any process may undo what another one created.
    """

    @abstractmethod
    def create(self, site: Site, topology: PlacedT, journal: Journal) -> None:
        """Make the nodes and their directories. Each act is journalled before it is done."""

    @abstractmethod
    def destroy(self, site: Site, journal: Journal) -> None:
        """Remove everything of this build: what fails keeps nothing else from being removed."""

    @abstractmethod
    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        """What `destroy` would remove, or has not removed. Changes nothing."""

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

    def make_kept_folder(
        self, site: Site, node: Node, folder: PurePath, inner: str, journal: Journal
    ) -> None:
        """Make a folder on the host of `node`, with the folder `inner` in it; `destroy` of `site` removes it.
        Only where `keeps_folders`."""
        raise NotImplementedError(f"{type(self).__name__} has no folders that outlive a build")

    def remove_kept_folder(
        self, site: Site, node: Node, folder: PurePath, journal: Journal
    ) -> None:
        """Remove this one, if it was made."""
        raise NotImplementedError(f"{type(self).__name__} has no folders that outlive a build")

    # What hosts must have before anything starts. Checks start nothing and leave nothing.

    def checks(self, topology: PlacedT, tag: str) -> Iterator[NamedCheck]:
        """What hosts need beyond the controller."""
        yield from ()

    def doctor_checks(self, topology: PlacedT) -> Iterator[NamedCheck]:
        """What `study doctor` looks for beyond these."""
        yield from ()

    def worker_checks(self, topology: PlacedT, command: str) -> Iterator[NamedCheck]:
        """Checks that a host command succeeds on each worker's machine."""
        yield from ()

    def free_resources(self, topology: PlacedT) -> Mapping[str, FreeResources]:
        """What each host (by name) has free; hosts that are not queried are left out."""
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


def _declared(kind: str) -> dict[str, str]:
    """Name -> class of the providers that the folders beside this module declare as `kind`."""
    return {
        name: f"{__package__}.{folder.name}.{place}"
        for folder in iter_modules([str(Path(__file__).parent)])
        if folder.ispkg
        for name, place in getattr(import_module(f"{__package__}.{folder.name}"), kind, {}).items()
    }


OF_OTHERS = names_of("provider")
"""The providers of other packages. Each is named as its entry point."""
OURS = _declared("PROVIDERS")
OF_STUDIES = (*OURS, *OF_OTHERS)
"""The providers that a study may name."""
ALL_OURS = {**OURS, **_declared("STAND_INS")}
"""With those that stand in for one of these."""


@cache
def provider_named(name: str) -> Provider[Any]:
    """The one provider of that name; InputError if there is none."""
    if name in OF_OTHERS:
        provider = _of_others(name)
    elif name in ALL_OURS:
        provider = resolve_name(ALL_OURS[name])()
    else:
        raise InputError(
            f"provider {name[:100]!r} does not exist.",
            "provider",
            f"use one of: {', '.join((*ALL_OURS, *OF_OTHERS))}.",
        )
    provider.name = name
    return provider


def _of_others(name: str) -> Provider[Any]:
    if name in ALL_OURS:
        raise unusable("provider", f"{name!r} is registered twice", name)
    # the type checker takes no abstract class for a type
    found: type[Provider[Any]] = class_named("provider", name, Provider)  # type: ignore[type-abstract]
    try:
        return found()
    except TypeError as error:  # a method is missing
        raise unusable("provider", str(error), name) from error


def provider_of(topology: AnyTopology) -> Provider[Any]:
    """The topology's provider, with what builds need: what the model holds are objects of this class."""
    assert isinstance(topology.provider, Provider)
    return topology.provider


def out_of_memory(site: Site, topology: AnyTopology) -> list[str]:
    """A sentence for each container of which the kernel killed processes at its memory limit, since it was
    made. A host without an answer yields nothing: the fault that it would explain is enough."""
    try:
        times = provider_of(topology).guest_times(site, topology)
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
    return provider_of(topology).node_paths(site, topology)


def folders_of(topology: Topology, host: Host) -> list[str]:
    """The folders of a host's disks, and those in its memory that the topology uses."""
    return [*(disk.path for disk in host.disks), *topology.in_memory_mib(host)]


def install_dirs(topology: Topology, stacks: Stacks) -> InstallDirs:
    """Where Java and the stacks are on every node."""
    return stacks.install_dirs(partial(remote_path, topology))


def remote_path(topology: AnyTopology, path: PurePath | str) -> str:
    """The nodes' path of a file of the controller's stacks."""
    return provider_of(topology).remote_path(topology, path)


def software_of(topology: AnyTopology) -> MachineSoftware:
    """What the machines of the topology's nodes have."""
    return provider_of(topology).software(topology)
