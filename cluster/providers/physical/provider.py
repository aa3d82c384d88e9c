"""Provider `physical`: each host is a node; the master's and the client's may be the same one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePath
from typing import Any, ClassVar

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Target
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.ports import Ports, allocate_ports
from density_study.cluster.model.store import MachineProgram
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.physical.connections import check_connections
from density_study.cluster.providers.provider import (
    FreeResources,
    Leftovers,
    NamedCheck,
    Provider,
    folders_of,
)
from density_study.cluster.providers.ssh.build import SshBuild, same_java, same_program
from density_study.cluster.providers.ssh.channel import channel, on_all
from density_study.cluster.providers.ssh.host_leases import check_leases, release_leases
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.providers.stacks import moved
from density_study.cluster.render.blueprint import NodePaths
from density_study.cluster.stack import Java, Stack, ensure_all
from density_study.cluster.stack.archive import archive_name, has_archive
from density_study.cluster.state.events import NodeReach
from density_study.cluster.state.journal import Journal


@dataclass(frozen=True)
class HostSoftware:
    """What a topology's hosts have."""

    topology: Topology

    def java(self, feature: int | None = None) -> Java:
        home, version = _java(self.topology, feature)
        return Java(Path(home), version)

    def refusal(self, flags: Sequence[str], feature: int | None = None) -> str:
        """Asks one host, because all have the same Java."""
        target = next(iter(targets_of(self.topology).values()))
        return str(channel(target).act("jvm-refusal", list(flags), feature))

    def program(self, wanted: MachineProgram) -> Mapping[str, str]:
        """Asks the workers' hosts."""
        workers = {worker.host for worker in self.topology.workers}
        targets = {host: one for host, one in targets_of(self.topology).items() if host in workers}
        return same_program(targets, wanted)


class PhysicalProvider(Provider[Topology]):
    isolation = Isolation.HOST
    shares_hosts = True
    leases_hosts = True
    cuts_hosts = True
    keeps_folders = True
    fixed_of_network: ClassVar[Mapping[str, str]] = {
        "queues": "the queues of a network card are not changed; use provider container"
    }

    def checks(self, topology: Topology, tag: str) -> Iterator[NamedCheck]:
        yield f"hosts of {topology.name}", partial(self.preflight, topology, tag)
        ports = allocate_ports(topology)
        check = partial(check_connections, targets_of(topology), ports.of_addresses)
        yield f"connections between hosts of {topology.name}", check

    def worker_checks(self, topology: Topology, command: str) -> Iterator[NamedCheck]:
        check = partial(self._check_workers, topology, command)
        yield f"{command} on workers of {topology.name}", check

    def _check_workers(self, topology: Topology, command: str) -> None:
        workers = {worker.host for worker in topology.workers}
        targets = {host: target for host, target in targets_of(topology).items() if host in workers}
        on_all(targets, lambda _, target: channel(target).act(command))

    def node_paths(self, site: Site, topology: Topology) -> NodePaths:
        folder = topology.hosts[0].target.work / "builds" / site.tag
        data = {
            node.name: directories.data_dir(site, node)
            if node.disk
            else folder / "data" / node.name
            for node in topology.nodes
        }
        more = {
            node.name: tuple(directories.data_on(disk, site, node) for disk in node.more_disks)
            for node in topology.nodes
        }
        cache = {n.name: path for n in topology.nodes if (path := directories.cache_dir(site, n))}
        return NodePaths(folder / "conf", folder / "logs", data, more, cache)

    def remote_path(self, topology: Topology, path: PurePath | str) -> str:
        copies = (*_of_nodes(topology), *_of_clients(topology), *_of_workloads(topology))
        return moved(path, {copy.stack.home: copy.home for copy in copies})

    def software(self, topology: Topology) -> HostSoftware:
        return HostSoftware(topology)

    def check_leases(self, topology: Topology, tag: str) -> None:
        check_leases(targets_of(topology), tag)

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """Every port free on its own host."""
        wanted = ports.of_addresses

        def check(_: str, target: Target) -> None:
            own = [(target.address, port) for port in wanted.get(target.address, ())]
            channel(target).act("check-free", own)

        on_all(targets_of(topology), check)

    def preflight(self, topology: Topology, tag: str) -> None:
        """The program's folder, Java and, where systemd runs the host, the sudo rule. InputError names the
        host."""
        java = _java(topology, _feature(topology))[0]

        disks = {
            host.name: [disk.path for disk in host.disks] or [str(host.target.work)]
            for host in topology.hosts
        }

        def check(host: str, target: Target) -> None:
            there = channel(target)
            there.call("own_folder", str(target.work))
            there.act("check-programs", disks[host])
            there.act("check-java", java)
            there.call("check_units", tag)

        on_all(targets_of(topology), check)
        self._check_network(topology)

    def _check_network(self, topology: Topology) -> None:
        """InputError for what a host's interface cannot have."""
        targets = targets_of(topology)
        if settings := topology.variant.network.declared():
            on_all(
                targets,
                lambda _, target: channel(target).act("check-network", target.address, settings),
            )

    @contextmanager
    def reserve_ports(self, topology: Topology, ports: Ports) -> Iterator[None]:
        """The run leases its hosts, so no other study takes a port meanwhile."""
        self.check_ports(topology, ports)
        yield

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        paths = {
            host.name: [*folders_of(topology, host), str(topology.hosts[0].target.work)]
            for host in topology.hosts
        }

        def free(host: str, target: Target) -> FreeResources:
            ask = channel(target).act
            return FreeResources.of(ask("available-memory-mib"), ask("free-disks", paths[host]))

        return on_all(targets_of(topology), free)

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        build = self._provisioned(site, topology, journal)
        if settings := topology.variant.network.declared():
            build.set_network(settings)

    def _provisioned(self, site: Site, topology: Topology, journal: Journal) -> SshBuild:
        """Hosts leased, with the build's folders and the stacks."""
        targets = targets_of(topology)
        for node in topology.nodes:
            reach = NodeReach(tag=site.tag, node=node.name, target=targets[node.host])
            journal.record(reach)
        copies = {host: _of_host(topology, host) for host in targets}
        data = self.node_paths(site, topology).all_data(topology.nodes)
        build = SshBuild.known(site, journal)
        build.create(data, copies)
        return build

    def make_kept_folder(
        self, site: Site, node: Node, folder: PurePath, inner: str, journal: Journal
    ) -> None:
        reached = reversed(journal.events(NodeReach))
        target = next(one.target for one in reached if one.target.host == node.host)
        # by the host's name: a node of another build may have the same name on another host
        journal.record(NodeReach(tag=site.tag, node=node.host, target=target))
        SshBuild.known(site, journal).make_dir(node.host, folder)
        channel(target).act("make-folder", str(folder / inner))

    def remove_kept_folder(
        self, site: Site, node: Node, folder: PurePath, journal: Journal
    ) -> None:
        if build := SshBuild.of(site, journal):
            build.remove_dir(node.host, str(folder))

    def transport(self, site: Site, journal: Journal) -> SshTransport:
        return SshTransport(site, journal, lambda: SshBuild.known(site, journal).place)

    def disclose(self, topology: Topology) -> dict[str, Any]:
        disks = {host.name: folders_of(topology, host) for host in topology.hosts}

        def machine(host: str, target: Target) -> dict[str, Any]:
            ask = channel(target).act
            return {
                **ask("describe"),
                "java": ask("java", _feature(topology))["version"],
                "disks": {path: ask("describe-disk", path) for path in disks[host]},
            }

        return {"machines": on_all(targets_of(topology), machine)}

    def memory_mib(self, topology: Topology) -> int:
        return sum(machine["memory_mib"] for machine in _describe(topology).values())

    def destroy(self, site: Site, journal: Journal) -> None:
        if build := SshBuild.of(site, journal):
            build.destroy()

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        build = SshBuild.of(site, journal)
        return build.leftovers() if build else ()

    def release_leases(self, tag: str, journal: Journal) -> None:
        leased = {intent.host for intent in journal.intents("lease-host", tag)}
        reached = (reach.target for reach in journal.events(NodeReach))  # guests too
        release_leases({one.host: one for one in reached if one.host in leased}, tag)


def _describe(topology: Topology) -> dict[str, dict[str, Any]]:
    return on_all(targets_of(topology), lambda _, target: channel(target).act("describe"))


@cache
def _of_nodes(topology: Topology) -> tuple[StackCopy, ...]:
    """The trees do not change while the program runs."""
    stacks = topology.variant.versions.with_brought(topology.store.stacks)
    return _copies(topology, stacks, client=False)


@cache
def _of_clients(topology: Topology) -> tuple[StackCopy, ...]:
    return _copies(topology, topology.store.client_stacks, client=True)


@cache
def _of_workloads(topology: Topology) -> tuple[StackCopy, ...]:
    return _copies(topology, topology.worker_stacks, client=True)


def _of_host(topology: Topology, host: str) -> tuple[StackCopy, ...]:
    copies = [*_of_nodes(topology)]
    for nodes, further in (
        (topology.clients, _of_clients),
        ((*topology.workers, *topology.clients), _of_workloads),
    ):
        if any(node.host == host for node in nodes):
            copies += further(topology)
    return tuple({copy.home: copy for copy in copies}.values())


def _copies(topology: Topology, names: tuple[str, ...], client: bool) -> tuple[StackCopy, ...]:
    stacks = ensure_all(names, topology.variant.versions)
    return tuple(_copy(topology, stack, client) for stack in stacks)


def _copy(topology: Topology, stack: Stack, client: bool) -> StackCopy:
    """`client`: with the clients' Java, not with that of the variant."""
    java, version = _java(topology, None if client else _feature(topology))
    name = f"{stack.home.name}-java{version}"
    known = archive_name(None if client else topology.variant.versions.java)
    archive = known if has_archive(stack) else ""
    return StackCopy(stack, topology.hosts[0].target.work / "stacks" / name, java, archive)


@cache
def _java(topology: Topology, feature: int | None) -> tuple[str, str]:
    """(home, version) of the hosts' own Java, which their clients use, or of another release. From the plan;
    from the hosts where it was made without them, or for another Java than their own."""
    login = topology.hosts[0].login
    if login and login.java_home and feature is None:
        return login.java_home, login.java_version
    return same_java(targets_of(topology), feature)


def _feature(topology: Topology) -> int | None:
    """The release of Java that daemons need; None if the hosts' own will do."""
    return topology.store.java or topology.variant.versions.java


def targets_of(topology: Topology) -> dict[str, Target]:
    return {host.name: host.target for host in topology.occupied}
