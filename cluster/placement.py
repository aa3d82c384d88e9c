"""Placement: which node on which host, with which share of memory and which disk. Pure.

A density comparison holds the hosts' cores, memory and disks constant (method: constant hardware):
what is reserved for the master and the client is the same in every topology, what workers share is
divided evenly, and YARN may use the same container memory on each host at every density, so that as
many maps can run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from cluster.errors import InputError
from cluster.host import Disk, Host, Medium
from cluster.memory import (
    CLIENT_RESERVE_MIB,
    CONTAINER_MIB,
    MASTER_RESERVE_MIB,
    worker_minimum_mib,
)
from cluster.topology import Isolation, Node, Topology

CONTAINER_SHARE = 0.55
"""Most of a worker's memory beyond its daemons' floor that YARN may have; HBase gets the rest."""
HOST_CONTAINERS_LEAST = 2
"""An ApplicationMaster and one map: below that no MapReduce job can finish."""


@dataclass(frozen=True)
class Density:
    """One level of the factors: nodes on each worker host, RegionServers on each node."""

    vms_per_host: int
    regionservers_per_node: int

    @property
    def nodes(self) -> int:
        """Nodes on a host; 0 VMs is the bare host, one node."""
        return max(self.vms_per_host, 1)

    @property
    def name(self) -> str:
        suffix = f"-r{self.regionservers_per_node}" if self.regionservers_per_node > 1 else ""
        return f"v{self.vms_per_host}{suffix}"


@dataclass(frozen=True)
class Layout:
    """What is equal in all topologies of a study."""

    provider: str
    isolation: Isolation
    replication: int
    base_port: int


def place(
    hosts: Sequence[Host],
    densities: Sequence[Density],
    media: Sequence[Medium],
    layout: Layout,
) -> tuple[Topology, ...]:
    """Every topology of the study: densities x media, in the order given.

    InputError if a host's memory cannot hold a density (it says what would fit), if no disk has a
    medium, or if hosts and roles leave a topology without master, worker or client.
    """
    return tuple(
        _topology(hosts, density, medium, densities, layout)
        for density in densities
        for medium in media
    )


def _topology(
    hosts: Sequence[Host],
    density: Density,
    medium: Medium,
    densities: Sequence[Density],
    layout: Layout,
) -> Topology:
    nodes = [
        *_single(hosts, "master", MASTER_RESERVE_MIB),
        *_single(hosts, "client", CLIENT_RESERVE_MIB),
    ]
    for host in hosts:
        if "worker" in host.roles:
            nodes += _workers(host, density, medium, densities, len(nodes) - 1)
    emulated = any(node.disk and node.disk.emulated for node in nodes if "worker" in node.roles)
    return Topology(
        name=f"{density.name}-{medium}{'-emulated' if emulated else ''}",
        provider=layout.provider,
        isolation=layout.isolation,
        medium=medium,
        vms_per_host=density.vms_per_host,
        regionservers_per_node=density.regionservers_per_node,
        replication=layout.replication,
        hosts=tuple(hosts),
        nodes=tuple(nodes),
        base_port=layout.base_port,
    )


def _single(hosts: Sequence[Host], role: str, memory_mib: int) -> list[Node]:
    """The one master or client: on the first host that offers the role."""
    host = next(host for host in hosts if role in host.roles)
    disk = host.disks[0] if host.disks else None
    name = {"master": "m1", "client": "c1"}[role]
    return [Node(name, host.name, host.address, (role,), memory_mib, host.cores, disk)]  # type: ignore[arg-type]


def _workers(
    host: Host, density: Density, medium: Medium, densities: Sequence[Density], first: int
) -> list[Node]:
    disks = _disks_of(host, medium)
    containers_mib = host_container_mib(host, densities)
    share_mib = workers_mib(host) // density.nodes
    return [
        Node(
            name=f"w{first + index}",
            host=host.name,
            address=host.address,
            roles=("worker",),
            memory_mib=share_mib,
            cores=host.cores,
            disk=disks[index % len(disks)],
            container_mib=containers_mib // density.nodes,
            regionservers=density.regionservers_per_node,
        )
        for index in range(density.nodes)
    ]


def _disks_of(host: Host, medium: Medium) -> tuple[Disk, ...]:
    disks = tuple(disk for disk in host.disks if disk.medium == medium)
    if not disks:
        have = ", ".join(f"{disk.path} ({disk.medium})" for disk in host.disks) or "no disk"
        raise InputError(
            f"no disk is {medium}; it has {have}.",
            f"host {host.name!r}, factors.medium",
            f"leave {medium} out of factors.medium, or give the host a disk of that medium.",
        )
    return disks


def workers_mib(host: Host) -> int:
    """Memory of a host that its worker nodes divide, equal at every density."""
    reserve = MASTER_RESERVE_MIB * ("master" in host.roles)
    return host.memory_mib - reserve - CLIENT_RESERVE_MIB * ("client" in host.roles)


def host_container_mib(host: Host, densities: Sequence[Density]) -> int:
    """YARN's memory on a host: the same at every density, a whole number of containers a node."""
    step_mib = CONTAINER_MIB * lcm(*(density.nodes for density in densities))
    spare_mib = min(_spare_mib(host, density) for density in densities)
    chosen_mib = max(int(spare_mib * CONTAINER_SHARE) // step_mib * step_mib, step_mib)
    chosen_mib = max(chosen_mib, _up_to(HOST_CONTAINERS_LEAST * CONTAINER_MIB, step_mib))
    for density in densities:
        if _spare_mib(host, density) < chosen_mib:
            raise _too_dense(host, density, chosen_mib)
    return chosen_mib


def _up_to(value_mib: int, step_mib: int) -> int:
    return -(-value_mib // step_mib) * step_mib


def _spare_mib(host: Host, density: Density) -> int:
    """What is left of the workers' memory when each node has its daemons' least."""
    least = worker_minimum_mib(density.regionservers_per_node)
    return workers_mib(host) - density.nodes * least


def _too_dense(host: Host, density: Density, containers_mib: int) -> InputError:
    least = worker_minimum_mib(density.regionservers_per_node)
    fits = max((workers_mib(host) - containers_mib) // least, 0)
    reserve_mib = host.memory_mib - workers_mib(host)
    needed_mib = density.nodes * least + containers_mib + reserve_mib
    return InputError(
        f"{host.memory_mib} MiB cannot hold {density.nodes} worker nodes with "
        f"{density.regionservers_per_node} RegionServer(s) each: a node needs {least} MiB for its "
        f"daemons, YARN {containers_mib} MiB a host, and {reserve_mib} MiB are reserved for master "
        f"and client.",
        f"host {host.name!r}, factors.vms_per_host {density.vms_per_host}",
        f"at most {fits} node(s) fit; or give the host {needed_mib} MiB or more.",
    )
