"""Provider `physical`: each host is a node; the master's and the client's may be the same one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import PurePath
from typing import Any

from cluster.machine import directories
from cluster.model.cluster import Site
from cluster.model.errors import InputError, StudyError
from cluster.model.host import Host, Login
from cluster.model.ports import Ports
from cluster.model.topology import Topology
from cluster.providers.provider import (
    Capacity,
    FreeResources,
    Leases,
    Leftovers,
    Paths,
    Preflight,
    Provider,
)
from cluster.providers.ssh.ansible import play
from cluster.providers.ssh.build import SshBuild, check_same_java, no_build
from cluster.providers.ssh.channel import channel
from cluster.providers.ssh.fan_out import on_all
from cluster.providers.ssh.host_leases import busy, lease_holder, release_leases
from cluster.providers.ssh.stack_copies import (
    StackCopy,
    classpath_there,
    copied,
    place_of,
    work_folder,
)
from cluster.providers.ssh.target import Target, target_from_json, target_to_json
from cluster.providers.ssh.transport import SshTransport
from cluster.providers.ssh.units import run_argv, unit_name
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import InstallDirs, NodePaths
from cluster.stack import Stack, ensure_all
from cluster.state.events import NodeReach
from cluster.state.journal import Journal


class PhysicalProvider(Provider, Paths, Preflight, Capacity, Leases):
    def node_paths(self, site: Site, topology: Topology) -> NodePaths:
        folder = work_folder(_login(topology.hosts[0]).user) / "builds" / site.tag
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
        return NodePaths(folder / "conf", folder / "logs", data, more)

    def remote_path(self, topology: Topology, path: PurePath | str) -> str:
        return place_of(path, _all_copies(topology))

    def install_dirs(self, topology: Topology, stacks: Stacks) -> InstallDirs:
        hadoop, hbase = _copies(topology, (stacks.hadoop, stacks.hbase))
        return InstallDirs(
            java=PurePath(_java(topology)[0]),
            hadoop=hadoop.home,
            hbase=hbase.home,
            hadoop_classpath=classpath_there(hadoop),
            hbase_classpath=classpath_there(hbase),
        )

    def check_leases(self, topology: Topology, tag: str) -> None:
        held = on_all(_targets(topology), lambda _, target: lease_holder(target, tag))
        for host, target in _targets(topology).items():
            if (holder := held[host]) is not None:
                raise busy(target, holder)

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """Every port free on its own host."""
        wanted = list(ports.by_service.values())

        def free(_: str, target: Target) -> None:
            own = [address for address in wanted if address[0] == target.address]
            channel(target).call("act", "check-free", [own])

        on_all(_targets(topology), free)

    def preflight(self, topology: Topology, tag: str) -> None:
        """Ansible, Java and, where systemd runs the host, the sudo rule. InputError names the host."""
        targets = _targets(topology)
        systemd = on_all(
            targets, lambda _, target: channel(target).call("act", "describe", [])["systemd"]
        )
        login = _login(topology.hosts[0])
        unit = run_argv(login.user, unit_name(tag, "node", "daemon"), tag, ("/bin/true",))
        try:
            play(
                "preflight",
                targets,
                {"java": _java(topology)[0], "unit_command": list(unit[2:])},
                tag=tag,
                work=str(work_folder(login.user)),
                of_host={host: {"systemd": found} for host, found in systemd.items()},
            )
        except StudyError as error:
            raise InputError(error.what, error.where, error.remedy) from error

    @contextmanager
    def reserve_ports(self, topology: Topology, ports: Ports) -> Iterator[None]:
        """The run leases its hosts, so no other study takes a port meanwhile."""
        self.check_ports(topology, ports)
        yield

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        paths = {
            host.name: [*(disk.path for disk in host.disks), str(work_folder(_login(host).user))]
            for host in topology.hosts
        }

        def free(host: str, target: Target) -> FreeResources:
            ask = channel(target)
            return FreeResources(
                ask.call("act", "available-memory-mib", []),
                {path: ask.call("act", "free-mib", [path]) for path in paths[host]},
            )

        return on_all(_targets(topology), free)

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        for node, target in _reach(topology).items():
            journal.record(NodeReach(tag=site.tag, node=node, target=target_to_json(target)))
        build = _known(site, journal)
        hadoop, hbase, ycsb = _all_copies(topology)
        client = build.reach[topology.client.name].host
        copies = {
            host: (hadoop, hbase, ycsb) if host == client else (hadoop, hbase)
            for host in build.hosts
        }
        java, _ = _java(topology)
        build.create(topology, self.node_paths(site, topology), copies, java)

    def transport(self, site: Site, journal: Journal) -> SshTransport:
        return SshTransport(site, journal, lambda: _known(site, journal).place)

    def disclose(self, topology: Topology) -> dict[str, Any]:
        disks = {host.name: [disk.path for disk in host.disks] for host in topology.hosts}

        def machine(host: str, target: Target) -> dict[str, Any]:
            ask = channel(target)
            return {
                **ask.call("act", "describe", []),
                "java": ask.call("act", "java", [])["version"],
                "disks": {path: ask.call("act", "describe-disk", [path]) for path in disks[host]},
            }

        return {"machines": on_all(_targets(topology), machine)}

    def memory_mib(self, topology: Topology) -> int:
        described = on_all(
            _targets(topology), lambda _, target: channel(target).call("act", "describe", [])
        )
        return sum(machine["memory_mib"] for machine in described.values())

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        build = SshBuild.of(site, journal)
        return build.destroy() if build else Leftovers()

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        build = SshBuild.of(site, journal)
        return build.leftovers() if build else Leftovers()

    def release_leases(self, tag: str, journal: Journal) -> None:
        targets = (target_from_json(reach.target) for reach in journal.events(NodeReach))
        release_leases({target.host: target for target in targets}, tag)


def provider() -> PhysicalProvider:
    return PhysicalProvider()


def _known(site: Site, journal: Journal) -> SshBuild:
    build = SshBuild.of(site, journal)
    if build is None:
        raise no_build(site)
    return build


def _login(host: Host) -> Login:
    if host.login is None:
        raise InputError(
            "no SSH user is known.", f"host {host.name!r}", "give the study a key `ssh`."
        )
    return host.login


@cache
def _all_copies(topology: Topology) -> list[StackCopy]:
    """hadoop, hbase, ycsb; the trees do not change while the program runs."""
    return _copies(topology, ensure_all(("hadoop", "hbase", "ycsb")))


def _copies(topology: Topology, stacks: Sequence[Stack]) -> list[StackCopy]:
    work = work_folder(_login(topology.hosts[0]).user)
    return [copied(stack, work, _java(topology)[1]) for stack in stacks]


@cache
def _java(topology: Topology) -> tuple[str, str]:
    """(home, version), as the plan has them; where it was made without asking the hosts, as they say."""
    login = _login(topology.hosts[0])
    if login.java_home:
        return login.java_home, login.java_version
    return check_same_java(
        on_all(_targets(topology), lambda _, target: channel(target).call("act", "java", []))
    )


def _target(host: Host) -> Target:
    login = _login(host)
    return Target(host.name, host.address, login.port, login.user, login.known_hosts)


def _targets(topology: Topology) -> dict[str, Target]:
    used = {node.host for node in topology.nodes}
    return {host.name: _target(host) for host in topology.hosts if host.name in used}


def _reach(topology: Topology) -> dict[str, Target]:
    targets = _targets(topology)
    return {node.name: targets[node.host] for node in topology.nodes}
