"""Provider `container`: this machine divided into OCI containers, with limits of CPU, memory and I/O."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from density_study.cluster.machine import directories
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.other_users import bridge_guard
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, cpus_from
from density_study.cluster.model.errors import do_all
from density_study.cluster.model.host import Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container import removal
from density_study.cluster.providers.container.container import check_shares, containers, network_of
from density_study.cluster.providers.container.limits import prove_limits
from density_study.cluster.providers.container.making import Maker
from density_study.cluster.providers.container.names import bridge_name
from density_study.cluster.providers.container.shared import (
    NEEDS,
    NO_INTERRUPTS,
    disclose_containers,
    limited_paths,
    memory_mib,
    spent_on,
)
from density_study.cluster.providers.container.transport import ContainerTransport
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.provider import Leftovers, Machine, NamedCheck, NodeTime
from density_study.cluster.providers.ssh.programs import HERE, Requirements, check_programs
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.machine_software import THIS_MACHINE
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged


class ContainerProvider(LocalProvider):
    """Has this machine in common with provider `local`, which builds the control variant, density 0."""

    isolation = Isolation.CONTAINER
    bare = "local"
    slows_disks = False
    keeps_folders = False
    no_network_factor = ""
    fixed_of_network = NO_INTERRUPTS

    def checks(self, topology: Topology, tag: str) -> Iterator[NamedCheck]:
        yield f"hosts of {topology.name}", partial(self.preflight, topology, tag)

    def preflight(self, topology: Topology, tag: str) -> None:
        _check_machine(topology)
        check_shares(topology, _cpus(topology.hosts[0], _facts(topology)))
        act("check-network-kernel", topology.variant.network.declared())

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """Containers have networks of their own."""

    def reserve_ports(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        return nullcontext()

    def reachable_because(self) -> str:
        """Why every user reaches the containers by the bridge; empty if they do not."""
        return bridge_guard.obstacle()

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        _check_machine(topology)  # the network may be taken since the preflight
        for node in topology.nodes:
            directories.make(site, node, journal)
            (site.root / "logs" / node.name).mkdir(parents=True, exist_ok=True)
        facts, root = _facts(topology), site.root.absolute()
        host = topology.hosts[0]
        # the run's folder holds configuration, logs and records, under the same paths as on the host
        run, cpus = root.parents[1], _cpus(host, facts)
        made = containers(site, topology, cpus, root, run, _software(topology))
        transport = self.transport(site, journal)
        python = transport.python(topology.nodes[0])
        if not self.reachable_because():  # before there is a bridge
            journal.intend("close-bridge", site.tag)
            bridge_guard.close(site.tag, bridge_name(site.tag))
        maker = Maker(site, journal, act, facts, python, topology.variant.network)
        maker.make(made, network_of(host), {node.address: node.name for node in topology.nodes})
        prove_limits(site, transport, made, {host.name: facts["cgroup_version"]})

    def transport(self, site: Site, journal: Journal) -> ContainerTransport:
        return ContainerTransport(site.tag, journal)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """This machine: containers share its kernel, and nodecpu tells their processes apart."""
        host = topology.hosts[0]
        itself = Node(host.name, host.name, host.address, (), host.memory_mib, host.cores)
        return (Machine(host.name, itself, LocalTransport(site.tag, journal)),)

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, NodeTime]:
        return spent_on(act, site, topology.nodes)

    def disclose(self, topology: Topology) -> dict[str, Any]:
        return {**super().disclose(topology), **disclose_containers([_facts(topology)], topology)}

    def memory_mib(self, topology: Topology) -> int:
        return memory_mib(topology)

    def destroy(self, site: Site, journal: Journal) -> None:
        do_all(
            LocalTransport(site.tag, journal).stop_tagged,
            lambda: removal.remove(act, site.tag, journal),
            lambda: bridge_guard.remove(site.tag) if _is_guarded(site, journal) else None,
            lambda: directories.remove(site, journal),
        )

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        return (
            *map(str, tagged(site.tag)),
            *removal.find(act, site.tag, journal),
            *(["rules of nftables"] if _is_guarded(site, journal) else []),
            *map(str, directories.made(site, journal)),
        )


def _software(topology: Topology) -> tuple[Path, ...]:
    """Folders of Java, Python, this program and the stacks; where one is a link, of both ends."""
    releases = {None, topology.store.java or topology.variant.versions.java}
    homes = [THIS_MACHINE.java(feature).home for feature in sorted(releases, key=str)]
    own = Path(__file__).resolve().parents[3]
    folders = [*homes, Path(sys.base_prefix), Path(sys.prefix), own, cache_root()]
    return tuple(
        dict.fromkeys(end for path in folders for end in (path.absolute(), path.resolve()))
    )


def _is_guarded(site: Site, journal: Journal) -> bool:
    intended = any(journal.intents("close-bridge", site.tag))
    return intended and bridge_guard.is_closed(site.tag)


def act(name: str, *arguments: Any) -> Any:
    """Run a host command on this machine."""
    return HOST_COMMANDS[name](*arguments)


def _facts(topology: Topology) -> dict[str, Any]:
    found: dict[str, Any] = act("container-facts", limited_paths(topology.hosts[0]))
    return found


def _cpus(host: Host, facts: Mapping[str, Any]) -> dict[str, Cpus]:
    return {host.name: cpus_from(facts["cpus"])}


def _check_machine(topology: Topology) -> None:
    host = topology.hosts[0]
    check_programs([Requirements(HERE, None, NEEDS)])
    act("check-containers", [network_of(host).network], bool(limited_paths(host)))
