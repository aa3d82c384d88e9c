"""Placement: assigns nodes to hosts, with a share of memory and a disk each. Pure functions.

A density comparison holds the hosts' cores, memory and disks constant (method: constant hardware). Every
topology reserves the same memory for the master and the client and divides the rest evenly between
the workers. YARN has the same container memory on each host at every density, so that the same number of
map tasks can run at once.

A host that carries guests keeps its reserve at every density, on the bare host too, and each guest's own
system has a fixed part of the guest's memory. Guests have addresses of their own, and a drive each
where there are enough; the bare host has all of a medium's drives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import ceil, lcm

from cluster.model.errors import InputError
from cluster.model.host import Disk, Host, Medium, Role
from cluster.model.memory import (
    CLIENT_RESERVE_MIB,
    CONTAINER_MIB,
    GUEST_OS_MIB,
    MASTER_RESERVE_MIB,
    worker_minimum_mib,
)
from cluster.model.topology import Isolation, Node, Topology

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
    """The settings that all topologies of a study share; `isolation` applies to densities from 1 on."""

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

    InputError if a host's memory cannot hold a density (it names what would fit), if no disk has a
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
    provider, isolation = layout.provider, layout.isolation
    if isolation == "vm" and density.vms_per_host == 0:
        provider, isolation = "physical", "host"  # 0 VMs: the bare host
    addresses = {host.name: _addresses(host, isolation) for host in hosts}
    nodes = _singles(hosts, isolation, addresses)
    workers: list[Node] = []
    for host in hosts:
        if "worker" in host.roles:
            first = len(workers) + 1
            workers += _workers(host, density, medium, densities, first, addresses[host.name])
    emulated = any(node.disk and node.disk.emulated for node in workers)
    return Topology(
        name=f"{density.name}-{medium}{'-emulated' if emulated else ''}",
        provider=provider,
        isolation=isolation,
        medium=medium,
        vms_per_host=density.vms_per_host,
        regionservers_per_node=density.regionservers_per_node,
        replication=layout.replication,
        hosts=tuple(hosts),
        nodes=(*nodes, *workers),
        base_port=layout.base_port,
    )


def _addresses(host: Host, isolation: Isolation) -> Iterator[str]:
    """The addresses of the host's nodes, in order; endless where nodes share the host's own.

    InputError if there are too few for its guests.
    """
    if isolation != "vm":
        yield from repeat(host.address)
    addresses = host.vms.addresses if host.vms else ()
    yield from addresses
    raise InputError(
        f"its guests need more than {len(addresses)} address(es).",
        f"host {host.name!r}, key vms.addresses",
        "extend the range of addresses.",
    )


def _singles(
    hosts: Sequence[Host], isolation: Isolation, addresses: Mapping[str, Iterator[str]]
) -> list[Node]:
    """The one master and the one client, each on the first host that offers the role. A single guest where
    that is the same host: each guest needs memory for a system of its own."""
    master, client = (next(h for h in hosts if role in h.roles) for role in ("master", "client"))
    singles: list[tuple[Host, str, tuple[Role, ...], int]] = [
        (master, "m1", ("master",), MASTER_RESERVE_MIB),
        (client, "c1", ("client",), CLIENT_RESERVE_MIB),
    ]
    if isolation == "vm" and master is client:
        memory_mib = MASTER_RESERVE_MIB + CLIENT_RESERVE_MIB
        singles = [(master, "m1", ("master", "client"), memory_mib)]
    nodes = []
    for host, name, roles, memory_mib in singles:
        if workers_mib(host) < 0:
            raise InputError(
                f"{host.memory_mib} MiB is less than the {reserved_mib(host)} MiB reserved for the host, "
                "its master and its client.",
                f"host {host.name!r}, memory",
                f"give it {reserved_mib(host)} MiB or more.",
                ("hosts",),
            )
        address, disk = next(addresses[host.name]), host.disks[0] if host.disks else None
        nodes.append(Node(name, host.name, address, roles, memory_mib, host.cores, disk))
    return nodes


def _workers(
    host: Host,
    density: Density,
    medium: Medium,
    densities: Sequence[Density],
    first: int,
    addresses: Iterator[str],
) -> list[Node]:
    disks = _disks_of(host, medium)
    containers_mib = host_container_mib(host, densities)
    share_mib = workers_mib(host) // density.nodes - _system_mib(host, density)
    pinned = host.vms is not None and host.vms.vcpus == "pinned" and density.vms_per_host > 0
    return [
        Node(
            name=f"w{first + index}",
            host=host.name,
            address=next(addresses),
            roles=("worker",),
            memory_mib=share_mib,
            cores=host.cores // density.nodes if pinned else host.cores,
            disk=disks[index % len(disks)],
            more_disks=disks[1:] if density.vms_per_host == 0 else (),
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
            f"it has no disk of medium {medium}, only {have}.",
            f"host {host.name!r}",
            f"remove {medium} from factors.medium, or give the host a disk of that medium.",
            ("factors", "medium"),
        )
    return disks


def workers_mib(host: Host) -> int:
    """Memory of a host that its worker nodes divide, equal at every density."""
    return host.memory_mib - reserved_mib(host)


def reserved_mib(host: Host) -> int:
    """Memory of a host that workers cannot use: the host's own, the master's and the client's."""
    reserve = MASTER_RESERVE_MIB * ("master" in host.roles)
    reserve += CLIENT_RESERVE_MIB * ("client" in host.roles)
    if host.vms is None:
        return reserve
    guests = sum(role in host.roles for role in ("master", "client"))
    return reserve + host.vms.reserve_mib + guests * GUEST_OS_MIB


def _system_mib(host: Host, density: Density) -> int:
    """The part of a worker's share that its own system uses; on the bare host the reserve covers it."""
    return GUEST_OS_MIB if host.vms is not None and density.vms_per_host > 0 else 0


def host_container_mib(host: Host, densities: Sequence[Density]) -> int:
    """YARN's memory on a host: equal at every density, a whole number of containers per node."""
    # What remains at the density that leaves least, beyond the daemons of its nodes.
    spare_mib = min(workers_mib(host) - d.nodes * _least_mib(host, d) for d in densities)
    step_mib = _step_mib(densities)
    chosen_mib = int(spare_mib * CONTAINER_SHARE) // step_mib * step_mib
    chosen_mib = max(chosen_mib, _least_containers_mib(densities))
    if spare_mib < chosen_mib:
        raise _too_dense(host, densities)
    return chosen_mib


def _step_mib(densities: Sequence[Density]) -> int:
    """The smallest amount that every density divides into whole containers per node."""
    return CONTAINER_MIB * lcm(*(density.nodes for density in densities))


def _least_containers_mib(densities: Sequence[Density]) -> int:
    step_mib = _step_mib(densities)
    return ceil(HOST_CONTAINERS_LEAST * CONTAINER_MIB / step_mib) * step_mib


def _least_mib(host: Host, density: Density) -> int:
    """The minimum of one worker node: its daemons, and a guest's own system."""
    return worker_minimum_mib(density.regionservers_per_node) + _system_mib(host, density)


def _needed_mib(host: Host, densities: Sequence[Density]) -> int:
    """The minimum memory with which the host can run each of the densities."""
    daemons_mib = max(density.nodes * _least_mib(host, density) for density in densities)
    return reserved_mib(host) + daemons_mib + _least_containers_mib(densities)


def _too_dense(host: Host, densities: Sequence[Density]) -> InputError:
    """The error names the density that needs most memory, for daemons and evenly divided containers."""
    worst = max(densities, key=lambda density: density.nodes * _least_mib(host, density))
    others = [density for density in densities if density.nodes < worst.nodes]
    fits = worst.nodes - 1
    while fits and host.memory_mib < _needed_mib(
        host,
        [*(d for d in others if d.nodes < fits), Density(fits, worst.regionservers_per_node)],
    ):
        fits -= 1
    return InputError(
        f"{host.memory_mib} MiB cannot hold {worst.nodes} worker nodes with "
        f"{worst.regionservers_per_node} RegionServer(s) each: a node needs {_least_mib(host, worst)} MiB "
        f"for its daemons, YARN {_least_containers_mib(densities)} MiB per host (equally many containers "
        f"at every density, divided evenly), and {reserved_mib(host)} MiB is reserved for "
        f"{'the host, ' if host.vms else ''}master and client.",
        f"host {host.name!r}, {worst.vms_per_host} of vms_per_host",
        f"use at most {fits} node(s), or give the host {_needed_mib(host, densities)} MiB or more.",
        ("factors", "vms_per_host"),
    )
