"""Provider `container` with hosts over SSH: each one divided as this machine would be.

Each host has a bridge with a part of the containers' network, and routes to the parts of the others. This
machine also has routes: it queries the daemons for their state.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import partial
from typing import Any

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, cpus_from
from density_study.cluster.model.errors import InputError, StudyError, do_all, each_of
from density_study.cluster.model.host import Target
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.container import removal
from density_study.cluster.providers.container.container import (
    Container,
    check_shares,
    containers,
    network_of,
)
from density_study.cluster.providers.container.limits import prove_limits
from density_study.cluster.providers.container.making import Act, Maker
from density_study.cluster.providers.container.provider import act
from density_study.cluster.providers.container.shared import (
    NEEDS,
    NO_INTERRUPTS,
    disclose_containers,
    limited_paths,
    memory_mib,
    spent_on,
)
from density_study.cluster.providers.container.transport import ContainerSshTransport
from density_study.cluster.providers.physical.provider import PhysicalProvider, targets_of
from density_study.cluster.providers.provider import Leftovers, Machine, NodeTime, machines_of_hosts
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.ssh.channel import channel, on_all
from density_study.cluster.providers.ssh.programs import Requirements, check_programs
from density_study.cluster.state.journal import Journal


class ContainerOverSshProvider(PhysicalProvider):
    """Has the hosts in common with provider `physical`, which builds the control variant, density 0."""

    isolation = Isolation.CONTAINER
    bare = "physical"
    cuts_hosts = False
    keeps_folders = False
    fixed_of_network = NO_INTERRUPTS

    def preflight(self, topology: Topology, tag: str) -> None:
        _check_hosts(topology)
        check_shares(topology, _cpus(_facts(topology)))
        super().preflight(topology, tag)

    def _check_network(self, topology: Topology) -> None:
        settings = topology.variant.network.declared()
        on_all(targets_of(topology), lambda _, host: _on(host)("check-network-kernel", settings))

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """Containers have networks of their own."""

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        build = self._provisioned(site, topology, journal)
        _check_networks(topology)  # one may be taken since the preflight
        facts = _facts(topology)
        work = build.folder
        made = containers(site, topology, _cpus(facts), work, work, (build.work,))
        transport = self.transport(site, journal)
        python = transport.python(topology.nodes[0])
        names = {node.address: node.name for node in topology.nodes}
        by_name = {host.name: host for host in topology.hosts}

        def make(host: str) -> None:
            on, network = _on(build.hosts[host]), topology.variant.network
            maker = Maker(site, journal, on, facts[host], python, network, host=host)
            here = [one for one in made if one.node.host == host]
            routes = _routes(topology, besides=host)
            maker.make(here, network_of(by_name[host]), names, routes)

        each_of(build.hosts, make)
        here_maker = Maker(site, journal, act, {}, python)
        for network, via in _routes(topology).items():
            if act("way-to", via).get("type") != "local":  # else its bridge is this machine's
                here_maker.route(network, via)
        _prove_reach(build, made)
        versions = {host: found["cgroup_version"] for host, found in facts.items()}
        prove_limits(site, transport, made, versions)

    def transport(self, site: Site, journal: Journal) -> ContainerSshTransport:
        return ContainerSshTransport(site, journal, lambda: SshBuild.known(site, journal).place)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """The hosts: containers share their kernels, and nodecpu tells their processes apart."""
        return machines_of_hosts(topology, super().transport(site, journal))

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, NodeTime]:
        def spent(host: str, target: Target) -> dict[str, NodeTime]:
            nodes = [node for node in topology.nodes if node.host == host]
            return spent_on(_on(target), site, nodes)

        found = on_all(targets_of(topology), spent)
        return {node: time for times in found.values() for node, time in times.items()}

    def disclose(self, topology: Topology) -> dict[str, Any]:
        facts = _facts(topology).values()
        return {**super().disclose(topology), **disclose_containers(facts, topology)}

    def memory_mib(self, topology: Topology) -> int:
        return memory_mib(topology)

    def destroy(self, site: Site, journal: Journal) -> None:
        def remove(host: str, target: Target) -> None:
            removal.remove(_on(target), site.tag, journal, host)

        build = SshBuild.of(site, journal)
        do_all(
            lambda: build.destroy(remove) if build else None,
            lambda: removal.remove(act, site.tag, journal),
        )

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        def find(host: str, target: Target) -> list[str]:
            return removal.find(_on(target), site.tag, journal, host)

        build = SshBuild.of(site, journal)
        there = build.leftovers(find) if build else ()
        return (*there, *removal.find(act, site.tag, journal))


def _on(target: Target) -> Act:
    """Runs host commands on that host."""

    def run(name: str, *arguments: Any) -> Any:
        return channel(target).act(name, *arguments)

    return run


def _routes(topology: Topology, besides: str = "") -> dict[str, str]:
    """The containers' network of each host -> the host's address."""
    return {
        network_of(host).network: socket.gethostbyname(host.address)
        for host in topology.occupied
        if host.name != besides
    }


def _facts(topology: Topology) -> dict[str, dict[str, Any]]:
    paths = {host.name: limited_paths(host) for host in topology.hosts}
    targets = targets_of(topology)
    return on_all(targets, lambda host, target: _on(target)("container-facts", paths[host]))


def _cpus(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, Cpus]:
    return {host: cpus_from(found["cpus"]) for host, found in facts.items()}


def _check_hosts(topology: Topology) -> None:
    """InputError for the first thing that each host, or this machine, lacks."""
    targets = targets_of(topology)
    check_programs([Requirements(name, target, NEEDS) for name, target in targets.items()])
    networks = list(_routes(topology))
    limited = {host.name: bool(limited_paths(host)) for host in topology.occupied}
    on_all(targets, lambda host, target: _on(target)("check-containers", networks, limited[host]))
    _check_networks(topology)


def _check_networks(topology: Topology) -> None:
    """The networks are free, and packets find their way between hosts, and to and from this machine."""
    networks = list(_routes(topology))

    def check(host: str, target: Target) -> None:
        others = list(_routes(topology, besides=host).values())
        _on(target)("check-routes", networks, others, True)

    on_all(targets_of(topology), check)
    try:
        act("check-routes", networks, list(_routes(topology).values()), False)
    except InputError as error:
        raise InputError(error.what, f"the controller, {error.where}", error.remedy) from error


def _prove_reach(build: SshBuild, made: tuple[Container, ...]) -> None:
    """The first container of every host answers to those of the others, and to this machine. StudyError if a
    firewall is in the way."""
    firsts = {one.node.host: one for one in reversed(made)}
    addresses = [one.node.address for one in firsts.values()]
    asked = {
        host: partial(_on(build.hosts[host]), "unreached", one.id) for host, one in firsts.items()
    }
    asked["the controller"] = partial(act, "unreached", "")

    def prove(who: str) -> None:
        if silent := asked[who](addresses):
            raise StudyError(
                f"containers at {', '.join(silent)} do not answer to {who}.",
                "the containers' network between hosts",
                "let the hosts' firewalls forward packets between the host's network and the containers' "
                "(nft list ruleset, chain forward).",
            )

    each_of(asked, prove)
