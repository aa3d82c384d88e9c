"""Placement: assigns nodes to hosts, with a share of memory and a disk each. Pure functions.

A comparison holds the hosts' cores, memory and disks constant (method: constant hardware). Every
topology reserves the same memory for the master and the client and divides the rest evenly between
the workers. YARN has the same container memory on each host in every variant, so that the same number of
map tasks can run at once.

A host that carries guests keeps its reserve at every density, on the bare host too, and each guest's own
system has a fixed part of the guest's memory. Guests have addresses of their own. The same holds for
containers, whose own part holds page cache and what else the kernel charges to them. `drives` deals out a
host's drives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from math import ceil

from density_study.cluster.model.dividing.drives import dealt_drives
from density_study.cluster.model.dividing.memory_shares import (
    host_container_mib,
    master_mib,
    node_mib,
    reserved_mib,
    with_shares,
    workers_mib,
)
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, DiskType, Host, MemoryFolder, Role
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.memory import client_reserve_mib
from density_study.cluster.model.plain import counted
from density_study.cluster.model.provider import ProviderKind
from density_study.cluster.model.topology import Jit, Node, Topology
from density_study.cluster.model.variant import Variant


@dataclass(frozen=True)
class Layout:
    """The settings that all topologies of a study share. `provider`: at densities from 1 on."""

    provider: ProviderKind
    replication: int
    base_port: int
    jit: Jit = "full"
    worker_stacks: tuple[str, ...] = ()


def place(
    hosts: Sequence[Host], variants: Sequence[Variant], layout: Layout
) -> tuple[Topology, ...]:
    """The topology of every variant, in the order given.

    InputError if a host's memory cannot hold a variant (it names what would fit), if no disk has a
    disk type, or if hosts and roles leave a topology without master, worker or client.
    """
    variants = with_shares(hosts, variants)
    return tuple(_topology(hosts, order, variants, layout) for order in range(len(variants)))


def _topology(
    hosts: Sequence[Host], order: int, variants: Sequence[Variant], layout: Layout
) -> Topology:
    variant = variants[order]
    hosts = used_hosts(hosts, variant.worker_hosts)
    provider = layout.provider
    if variant.vms_per_host == 0:
        provider = provider.for_bare_hosts()
    isolation = provider.isolation if provider is layout.provider else Isolation.HOST
    addresses = {host.name: _addresses(host, isolation) for host in hosts}
    nodes = _singles(hosts, variants, isolation, addresses)
    workers: list[Node] = []
    for host in hosts:
        if "worker" in host.roles:
            first = len(workers) + 1
            drives = dealt_drives(
                _disks_of(host, variant.disk_type), variant, variants, host, isolation
            )
            workers += _workers(host, variant, variants, first, addresses[host.name], drives)
    _check_store(variant, workers)
    emulated = any(disk.emulated for node in workers for disk in node.disks)
    return Topology(
        name=variant.name(emulated),
        provider=provider,
        isolation=isolation,
        variant=variant,
        replication=layout.replication,
        hosts=tuple(hosts),
        nodes=(*nodes, *workers),
        base_port=layout.base_port,
        jit=layout.jit,
        order=order,
        worker_stacks=layout.worker_stacks,
    )


def used_hosts(hosts: Sequence[Host], workers: int | None) -> tuple[Host, ...]:
    """All hosts, of which only the first `workers` have the role worker."""
    left = len(hosts) if workers is None else workers
    used: list[Host] = []
    for host in hosts:
        is_worker = "worker" in host.roles
        roles = tuple(role for role in host.roles if role != "worker" or left)
        used.append(host if roles == host.roles else replace(host, roles=roles))
        left -= is_worker and left > 0
    return tuple(used)


def _check_store(variant: Variant, workers: Sequence[Node]) -> None:
    """InputError if the store cannot use every worker (the others would be idle hardware), or not as
    declared."""
    most = variant.store.workers
    if most is not None and len(workers) > most:
        raise InputError(
            f"{variant.store.title} runs on {counted(most, 'worker')}; this variant has {len(workers)}.",
            f"variant {variant.name()}",
            "use one worker host and vms_per_host: [1], or another store.",
            ("factors", "vms_per_host"),
        )
    if variant.store.embedded and any(d.limits for node in workers for d in node.disks):
        raise InputError(
            f"{variant.store.title} runs in the client, which the limits of an emulated disk do not hold.",
            f"variant {variant.name()}",
            "remove `limits` from the disks, or use another store.",
            ("hosts",),
        )
    if "regionservers_per_node" not in variant.store.offers and variant.regionservers_per_node > 1:
        raise InputError(
            f"{variant.store.title} has no RegionServers.",
            f"variant {variant.name()}",
            "remove regionservers_per_node, or compare it in a study of HBase only.",
            ("factors", "regionservers_per_node"),
        )


def _addresses(host: Host, isolation: Isolation) -> Iterator[str]:
    """The addresses of the host's nodes, in order; endless where nodes share the host's own.

    InputError if there are too few for its guests or containers.
    """
    if not isolation.facts.own_address:
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
    variants: Sequence[Variant],
    isolation: Isolation,
    addresses: Mapping[str, Iterator[str]],
) -> list[Node]:
    """The one master, on the first host that offers the role, and a client on every host that offers it. A
    single guest where that is the same host: each guest needs memory for a system of its own."""
    master = next(host for host in hosts if "master" in host.roles)
    clients = [host for host in hosts if "client" in host.roles]
    singles: list[tuple[Host, str, tuple[Role, ...], int]] = [
        (master, "m1", ("master",), master_mib(variants))
    ]
    if isolation.facts.own_kernel and master in clients:
        clients.remove(master)
        memory_mib = master_mib(variants) + client_reserve_mib(master.memory_mib)
        singles = [(master, "m1", ("master", "client"), memory_mib)]
    singles += [
        (host, f"c{number}", ("client",), client_reserve_mib(host.memory_mib))
        for number, host in enumerate(clients, 1)
    ]
    nodes = []
    for host, name, roles, memory_mib in singles:
        if workers_mib(host, variants) < 0:
            least_mib = reserved_mib(host, variants)
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
    host: Host,
    variant: Variant,
    variants: Sequence[Variant],
    first: int,
    addresses: Iterator[str],
    drives: Sequence[tuple[Disk, ...]],
) -> list[Node]:
    containers_mib = host_container_mib(host, variants)
    has_regionservers = "regionservers_per_node" in variant.store.offers
    cores = _cores_of_worker(host, variant)
    memory_mib, step_mib = node_mib(host, variant, variants), variant.sizing.container_mib
    return [
        Node(
            name=f"w{first + index}",
            host=host.name,
            address=next(addresses),
            roles=("worker",),
            memory_mib=memory_mib,
            cores=cores,
            disk=own[0],
            more_disks=own[1:],
            container_mib=containers_mib // variant.nodes if variant.store.hadoop else 0,
            regionservers=variant.regionservers_per_node if has_regionservers else 0,
            cache_disk=_cache_disk(host, variant, own[0], index),
            excess_mib=variant.oversubscribed.more_mib(memory_mib, step_mib),
        )
        for index, own in enumerate(drives)
    ]


def _cores_of_worker(host: Host, variant: Variant) -> int:
    """Cores that a worker may use at once. InputError if containers cannot have equally many pinned ones (for
    guests: `providers.libvirt.guests`)."""
    policy = host.vms.vcpus if host.vms else host.containers.cpus if host.containers else "all"
    if policy == "all" or variant.vms_per_host == 0:
        return host.cores
    if policy == "quota":
        return ceil(variant.oversubscribed.cores_of(host.cores, variant.nodes))
    if host.containers and host.cores % variant.nodes:
        raise InputError(
            f"{counted(host.cores, 'core')} cannot be divided equally among {variant.nodes} containers.",
            f"host {host.name!r}, key containers.cpus",
            "write cpus: quota, or densities that divide the cores.",
            ("containers", "cpus"),
        )
    return host.cores // variant.nodes


def _cache_disk(host: Host, variant: Variant, own: Disk, index: int) -> Disk | MemoryFolder | None:
    """The disk of the node's caches: its own if that has the disk type; None if they are no files."""
    divided = host.vms is not None or host.containers is not None
    if variant.configuration.hdfs_cache_mib:
        if not divided:
            return MemoryFolder()
        raise InputError(
            "a host of guests or containers has no folder in memory for HDFS's cache.",
            f"host {host.name!r}",
            "remove the tier hdfs_pmem, or use provider local or physical.",
            ("factors", "tier"),
        )
    cache = variant.configuration.block_cache
    if cache is None or cache.place == "off-heap":
        return None
    if cache.place == variant.disk_type:
        return own
    if cache.place == "pmem" and not divided:
        return MemoryFolder()
    others = [disk for disk in host.disks if disk.disk_type == cache.place]
    if cache.place == "pmem":
        why = "a host of guests or containers has no folder in memory for it"
    elif host.vms is not None:
        why = "a guest's data disks have the variant's own disk type"
    elif any(disk.emulated for disk in (own, *others)):
        why = "a disk of it is emulated, and its limits would also hold for the cache"
    elif not others:
        why = f"it has no disk of type {cache.place}"
    else:
        return others[index % len(others)]
    raise InputError(
        f"the block cache of {variant.name()} cannot be on {cache.place}: {why}.",
        f"host {host.name!r}",
        f"put the block cache on {variant.disk_type}, or off-heap.",
        ("factors", "tier" if "tier" in variant.levels else "configuration"),
    )


def _disks_of(host: Host, disk_type: DiskType) -> tuple[Disk, ...]:
    disks = tuple(disk for disk in host.disks if disk.disk_type == disk_type)
    if not disks:
        have = ", ".join(f"{disk.path} ({disk.disk_type})" for disk in host.disks) or "no disk"
        raise InputError(
            f"it has no disk of type {disk_type}, only {have}.",
            f"host {host.name!r}",
            f"remove {disk_type} from factors.disk_type, or give the host a disk of that type.",
            ("factors", "disk_type"),
        )
    return disks
