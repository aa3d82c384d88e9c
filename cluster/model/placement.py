"""Placement: assigns nodes to hosts, with a share of memory and a disk each. Pure functions.

A comparison holds the hosts' cores, memory and disks constant (method: constant hardware). Every
topology reserves the same memory for the master and the client and divides the rest evenly between
the workers. YARN has the same container memory on each host in every arm, so that the same number of
map tasks can run at once.

A host that carries guests keeps its reserve at every density, on the bare host too, and each guest's own
system has a fixed part of the guest's memory. Guests have addresses of their own, and a drive each
where there are enough; the bare host has all of a medium's drives. The same holds for containers, whose own
part holds page cache and what else the kernel charges to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from math import ceil, lcm

from density_study.cluster.model.arm import Arm
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.given import GivenCluster
from density_study.cluster.model.host import Disk, Host, Medium, MemoryFolder, Role
from density_study.cluster.model.memory import (
    CLIENT_RESERVE_MIB,
    CONTAINER_MIB,
    GUEST_OS_MIB,
    master_reserve_mib,
    worker_minimum_mib,
)
from density_study.cluster.model.store import HBASE, Store
from density_study.cluster.model.topology import BARE, Isolation, Node, Topology

CONTAINER_SHARE = 0.55
"""Most of a worker's memory beyond its daemons' floor that YARN may have; HBase gets the rest."""
HOST_CONTAINERS_LEAST = 2
"""An ApplicationMaster and one map: below that no MapReduce job can finish."""


@dataclass(frozen=True)
class Layout:
    """The settings that all topologies of a study share; `isolation` applies to densities from 1 on."""

    provider: str
    isolation: Isolation
    replication: int
    base_port: int
    worker_stacks: tuple[str, ...] = ()


def place(hosts: Sequence[Host], arms: Sequence[Arm], layout: Layout) -> tuple[Topology, ...]:
    """The topology of every arm, in the order given.

    InputError if a host's memory cannot hold an arm (it names what would fit), if no disk has a
    medium, or if hosts and roles leave a topology without master, worker or client.
    """
    return tuple(_topology(hosts, order, arms, layout) for order in range(len(arms)))


def given_topology(
    given: GivenCluster, client: Host, order: int = 0, store: Store = HBASE
) -> Topology:
    """The topology of a cluster that stands already: the client alone, on this machine."""
    node = Node("c1", client.name, client.address, ("client",), CLIENT_RESERVE_MIB, client.cores)
    levels = {"store": store.level} if given.endpoint else {}
    if given.name:
        levels = {"cluster": given.name}
    return Topology(
        name="-".join(("given", *levels.values())),
        provider="endpoint" if given.endpoint else "existing",
        isolation="host",
        medium="flash",
        vms_per_host=0,
        regionservers_per_node=1,
        replication=1,
        hosts=(client,),
        nodes=(node,),
        levels=levels,
        order=order,
        given=given,
        store=store,
    )


def _topology(hosts: Sequence[Host], order: int, arms: Sequence[Arm], layout: Layout) -> Topology:
    arm = arms[order]
    provider, isolation = layout.provider, layout.isolation
    if provider in BARE and arm.vms_per_host == 0:
        provider, isolation = BARE[provider], "host"  # 0 VMs: the bare host
    addresses = {host.name: _addresses(host, isolation) for host in hosts}
    nodes = _singles(hosts, arms, isolation, addresses)
    workers: list[Node] = []
    for host in hosts:
        if "worker" in host.roles:
            first = len(workers) + 1
            workers += _workers(host, arm, arms, first, addresses[host.name])
    _check_store(arm, workers)
    emulated = any(node.disk and node.disk.emulated for node in workers)
    return Topology(
        name=arm.name(emulated),
        provider=provider,
        isolation=isolation,
        medium=arm.medium,
        vms_per_host=arm.vms_per_host,
        regionservers_per_node=arm.regionservers_per_node,
        replication=layout.replication,
        hosts=tuple(hosts),
        nodes=(*nodes, *workers),
        base_port=layout.base_port,
        versions=arm.versions,
        configuration=arm.configuration,
        levels=arm.levels,
        order=order,
        store=arm.store,
        network=arm.network,
        worker_stacks=layout.worker_stacks,
    )


def _check_store(arm: Arm, workers: Sequence[Node]) -> None:
    """InputError if the store cannot use every worker (the others would be idle hardware), or not as
    declared."""
    most = arm.store.facts.workers
    if most is not None and len(workers) > most:
        raise InputError(
            f"{arm.store.facts.title} runs on {most} worker(s); this arm has {len(workers)}.",
            f"arm {arm.name()}",
            "use one worker host and vms_per_host: [1], or another store.",
            ("factors", "vms_per_host"),
        )
    if arm.store.facts.embedded and any(node.disk and node.disk.limits for node in workers):
        raise InputError(
            f"{arm.store.facts.title} runs in the client, which the limits of an emulated disk do not hold.",
            f"arm {arm.name()}",
            "remove `limits` from the disks, or use another store.",
            ("hosts",),
        )
    if not arm.store.is_hbase and arm.regionservers_per_node > 1:
        raise InputError(
            f"{arm.store.facts.title} has no RegionServers.",
            f"arm {arm.name()}",
            "remove regionservers_per_node, or compare it in a study of HBase alone.",
            ("factors", "regionservers_per_node"),
        )


def _addresses(host: Host, isolation: Isolation) -> Iterator[str]:
    """The addresses of the host's nodes, in order; endless where nodes share the host's own.

    InputError if there are too few for its guests or containers.
    """
    if isolation in ("process", "host"):
        yield from repeat(host.address)
    addresses = host.divided.addresses if host.divided else ()
    yield from addresses
    raise InputError(
        f"its {'guests' if host.vms else 'containers'} need more than {len(addresses)} address(es).",
        f"host {host.name!r}, key {'vms.addresses' if host.vms else 'containers.network'}",
        "extend the range of addresses.",
    )


def _singles(
    hosts: Sequence[Host],
    arms: Sequence[Arm],
    isolation: Isolation,
    addresses: Mapping[str, Iterator[str]],
) -> list[Node]:
    """The one master, on the first host that offers the role, and a client on every host that offers it. A
    single guest where that is the same host: each guest needs memory for a system of its own."""
    master = next(host for host in hosts if "master" in host.roles)
    clients = [host for host in hosts if "client" in host.roles]
    singles: list[tuple[Host, str, tuple[Role, ...], int]] = [
        (master, "m1", ("master",), _master_mib(arms))
    ]
    if isolation == "vm" and master in clients:
        clients.remove(master)
        memory_mib = _master_mib(arms) + CLIENT_RESERVE_MIB
        singles = [(master, "m1", ("master", "client"), memory_mib)]
    singles += [
        (host, f"c{number}", ("client",), CLIENT_RESERVE_MIB)
        for number, host in enumerate(clients, 1)
    ]
    nodes = []
    for host, name, roles, memory_mib in singles:
        if workers_mib(host, arms) < 0:
            least_mib = reserved_mib(host, arms)
            raise InputError(
                f"{host.memory_mib} MiB is less than the {least_mib} MiB reserved for the host, "
                "its master and its client.",
                f"host {host.name!r}, memory",
                f"give it {least_mib} MiB or more.",
                ("hosts",),
            )
        address, disk = next(addresses[host.name]), host.disks[0] if host.disks else None
        nodes.append(Node(name, host.name, address, roles, memory_mib, host.cores, disk))
    return nodes


def _workers(
    host: Host, arm: Arm, arms: Sequence[Arm], first: int, addresses: Iterator[str]
) -> list[Node]:
    disks = _disks_of(host, arm.medium)
    containers_mib = host_container_mib(host, arms)
    share_mib = workers_mib(host, arms) // arm.nodes - _system_mib(host, arm)
    cores = _cores_of_worker(host, arm)
    return [
        Node(
            name=f"w{first + index}",
            host=host.name,
            address=next(addresses),
            roles=("worker",),
            memory_mib=share_mib,
            cores=cores,
            disk=disks[index % len(disks)],
            more_disks=disks[1:] if arm.vms_per_host == 0 else (),
            container_mib=containers_mib // arm.nodes if arm.store.on_hadoop else 0,
            regionservers=arm.regionservers_per_node if arm.store.is_hbase else 0,
            cache_disk=_cache_disk(host, arm, disks[index % len(disks)], index),
        )
        for index in range(arm.nodes)
    ]


def _cores_of_worker(host: Host, arm: Arm) -> int:
    """Cores that a worker may use at once. InputError if containers cannot have equally many pinned ones (for
    guests: `providers.libvirt.guests`)."""
    policy = host.vms.vcpus if host.vms else host.containers.cpus if host.containers else "all"
    if policy == "all" or arm.vms_per_host == 0:
        return host.cores
    if policy == "quota":
        return ceil(host.cores / arm.nodes)
    if host.containers and host.cores % arm.nodes:
        raise InputError(
            f"{host.cores} core(s) cannot be divided equally among {arm.nodes} containers.",
            f"host {host.name!r}, key containers.cpus",
            "write cpus: quota, or densities that divide the cores.",
            ("containers", "cpus"),
        )
    return host.cores // arm.nodes


def _cache_disk(host: Host, arm: Arm, own: Disk, index: int) -> Disk | MemoryFolder | None:
    """The disk of the node's caches: its own if that has the medium; None if they are no files."""
    divided = host.vms is not None or host.containers is not None
    if arm.configuration.hdfs_cache_mib:
        if not divided:
            return MemoryFolder()
        raise InputError(
            "a host of guests or containers has no folder in memory for HDFS's cache.",
            f"host {host.name!r}",
            "remove the tier hdfs_pmem, or use provider local or physical.",
            ("factors", "tier"),
        )
    cache = arm.configuration.block_cache
    if cache is None or cache.place == "off-heap":
        return None
    if cache.place == arm.medium:
        return own
    if cache.place == "pmem" and not divided:
        return MemoryFolder()
    others = [disk for disk in host.disks if disk.medium == cache.place]
    if cache.place == "pmem":
        why = "a host of guests or containers has no folder in memory for it"
    elif host.vms is not None:
        why = "a guest has one data disk, which has the arm's own medium"
    elif any(disk.emulated for disk in (own, *others)):
        why = "a disk of it is emulated, and its limits would hold for the cache, too"
    elif not others:
        why = f"it has no disk of medium {cache.place}"
    else:
        return others[index % len(others)]
    raise InputError(
        f"the block cache of {arm.name()} cannot be on {cache.place}: {why}.",
        f"host {host.name!r}",
        f"put the block cache on {arm.medium}, or off-heap.",
        ("factors", "tier" if "tier" in arm.levels else "configuration"),
    )


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


def workers_mib(host: Host, arms: Sequence[Arm]) -> int:
    """Memory of a host that its worker nodes divide, equal in every arm."""
    return host.memory_mib - reserved_mib(host, arms)


def reserved_mib(host: Host, arms: Sequence[Arm]) -> int:
    """Memory of a host that workers cannot use: the host's own, the master's and the client's."""
    reserve = _master_mib(arms) * ("master" in host.roles)
    reserve += CLIENT_RESERVE_MIB * ("client" in host.roles)
    if host.divided is None:
        return reserve
    guests = sum(role in host.roles for role in ("master", "client"))
    return reserve + host.divided.reserve_mib + guests * GUEST_OS_MIB


def _master_mib(arms: Sequence[Arm]) -> int:
    """The master's memory, equal in every arm: that of the arm which needs most."""
    return max(master_reserve_mib(arm.configuration, arm.store) for arm in arms)


def _system_mib(host: Host, arm: Arm) -> int:
    """The part of a worker's share that its own system uses; on the bare host the reserve covers it."""
    return GUEST_OS_MIB if host.divided is not None and arm.vms_per_host > 0 else 0


def host_container_mib(host: Host, arms: Sequence[Arm]) -> int:
    """YARN's memory on a host: equal in every arm, a whole number of containers per node."""
    # What remains in the arm that leaves least, beyond the daemons of its nodes.
    spare_mib = min(workers_mib(host, arms) - arm.nodes * _least_mib(host, arm) for arm in arms)
    step_mib = _step_mib(arms)
    chosen_mib = int(spare_mib * CONTAINER_SHARE) // step_mib * step_mib
    chosen_mib = max(chosen_mib, _least_containers_mib(arms))
    if spare_mib < chosen_mib:
        raise _too_dense(host, arms)
    return chosen_mib


def _step_mib(arms: Sequence[Arm]) -> int:
    """The smallest amount that every density divides into whole containers per node."""
    return CONTAINER_MIB * lcm(*(arm.nodes for arm in arms))


def _least_containers_mib(arms: Sequence[Arm]) -> int:
    step_mib = _step_mib(arms)
    return ceil(HOST_CONTAINERS_LEAST * CONTAINER_MIB / step_mib) * step_mib


def _least_mib(host: Host, arm: Arm) -> int:
    """The minimum of one worker node: its daemons, and the own system of a guest or container."""
    daemons_mib = worker_minimum_mib(arm.regionservers_per_node, arm.configuration)
    return daemons_mib + _system_mib(host, arm)


def _needed_mib(host: Host, arms: Sequence[Arm]) -> int:
    """The minimum memory with which the host can run each of the arms."""
    daemons_mib = max(arm.nodes * _least_mib(host, arm) for arm in arms)
    return reserved_mib(host, arms) + daemons_mib + _least_containers_mib(arms)


def _too_dense(host: Host, arms: Sequence[Arm]) -> InputError:
    """The error names the arm that needs most memory, for daemons and evenly divided containers."""
    worst = max(arms, key=lambda arm: arm.nodes * _least_mib(host, arm))
    others = [arm for arm in arms if arm.nodes < worst.nodes]
    fits = worst.nodes - 1
    while fits and host.memory_mib < _needed_mib(
        host, [*(arm for arm in others if arm.nodes < fits), replace(worst, vms_per_host=fits)]
    ):
        fits -= 1
    off_heap_mib, hdfs_mib = worst.configuration.off_heap_mib, worst.configuration.hdfs_cache_mib
    return InputError(
        f"{host.memory_mib} MiB cannot hold {worst.nodes} worker nodes with "
        f"{worst.regionservers_per_node} RegionServer(s) each{_named(worst)}: a node needs "
        f"{_least_mib(host, worst)} MiB for its daemons"
        f"{f' ({off_heap_mib} MiB of each RegionServer off-heap)' if off_heap_mib else ''}"
        f"{f' ({hdfs_mib} MiB of HDFS cache)' if hdfs_mib else ''}, "
        f"YARN {_least_containers_mib(arms)} MiB per host (equally many containers "
        f"in every arm, divided evenly), and {reserved_mib(host, arms)} MiB is reserved for "
        f"{'the host, ' if host.divided else ''}master and client.",
        f"host {host.name!r}, {worst.vms_per_host} of vms_per_host",
        f"{'take less off-heap memory, ' if off_heap_mib or hdfs_mib else ''}use at most {fits} node(s), "
        f"or give the host {_needed_mib(host, arms)} MiB or more.",
        ("factors", "vms_per_host"),
    )


def _named(arm: Arm) -> str:
    return f" ({', '.join(arm.levels.values())})" if arm.levels else ""
