"""Provider `container`: this machine divided into OCI containers, with limits of CPU, memory and I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from density_study.cluster.machine import directories, io_limits
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.network_link import check_kernel
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container import cgroups, removal
from density_study.cluster.providers.container.container import Container, containers, network_of
from density_study.cluster.providers.container.making import Maker, run
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.container.programs import check_machine
from density_study.cluster.providers.container.transport import ContainerTransport
from density_study.cluster.providers.emulation import prove
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.provider import (
    GRACE_S,
    Guests,
    Leftovers,
    Machine,
    NodeTime,
    Preflight,
)
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged


class ContainerProvider(LocalProvider, Preflight, Guests):
    """Has this machine in common with provider `local`, which builds the control arm, density 0."""

    def preflight(self, topology: Topology, tag: str) -> None:
        if topology.isolation == "container":
            check_machine(topology.hosts[0])
            check_kernel(topology.network.declared())

    def check_ports(self, topology: Topology, ports: Ports) -> None:
        """Containers have networks of their own."""
        if topology.isolation != "container":
            super().check_ports(topology, ports)

    def reserve_ports(self, topology: Topology, ports: Ports) -> AbstractContextManager[None]:
        if topology.isolation != "container":
            return super().reserve_ports(topology, ports)
        return _nothing_to_reserve()

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        check_machine(topology.hosts[0])  # the network may be taken since the preflight
        for node in topology.nodes:
            directories.make(site, node, journal)
            (site.root / "logs" / node.name).mkdir(parents=True, exist_ok=True)
        made = containers(site, topology)
        Maker(site, journal, topology.network).make(made, network_of(topology.hosts[0]))
        _prove_limits(site, made, journal)

    def transport(self, site: Site, journal: Journal) -> LocalTransport:
        return ContainerTransport(site.tag, journal)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """This machine: containers share its kernel, and nodecpu tells their processes apart."""
        host = topology.hosts[0]
        itself = Node(host.name, host.name, host.address, (), host.memory_mib, host.cores)
        return (Machine(host.name, itself, LocalTransport(site.tag, journal)),)

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, NodeTime]:
        return {
            node.name: cgroups.spent(container_id(site.tag, node.name)) for node in topology.nodes
        }

    def disclose(self, topology: Topology) -> dict[str, Any]:
        return {
            **super().disclose(topology),
            "containers": {
                "runc": run(["runc", "--version"], "").stdout.splitlines()[0],
                "cgroup_version": cgroups.version(),
                "cpus": network_of(topology.hosts[0]).cpus,
            },
        }

    def memory_mib(self, topology: Topology) -> int:
        """The containers' limits hold for the page cache, too."""
        return sum(node.memory_mib + GUEST_OS_MIB for node in topology.nodes)

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        for process in HOST_COMMANDS["stop-tagged"](site.tag, GRACE_S):
            pid, ticks = process["pid"], process["start_ticks"]
            journal.write("process-stopped", pid=pid, start_ticks=ticks)
        removal.remove(site.tag, journal)
        directories.remove(site, journal)
        return self.leftovers(site, journal)

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        return (
            *map(str, tagged(site.tag)),
            *(
                f"{kind} {name}"
                for kind, names in removal.find(site.tag, journal).items()
                for name in names
            ),
            *map(str, directories.made(site, journal)),
        )


@contextmanager
def _nothing_to_reserve() -> Iterator[None]:
    yield


def _prove_limits(site: Site, made: tuple[Container, ...], journal: Journal) -> None:
    """Reads in the first container on each disk with limits, before anything uses it."""
    version = io_limits.cgroup_version() if any(one.limits for one in made) else 0
    proved = set()
    for one in made:
        disk = one.node.disk
        if one.limits is None or disk is None or disk.path in proved:
            continue
        proved.add(disk.path)
        group = cgroups.controller("blkio", one.id)
        folder = str(directories.data_dir(site, one.node) / "tmp")
        proof = prove(io_limits.LimitedReads(group), one.node, folder, one.limits)
        proof["held_back"] = io_limits.HELD_BACK[version]
        journal.record(DiskEmulated(tag=site.tag, disk=disk.path, proof=proof))
