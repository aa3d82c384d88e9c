"""`Guest`: one VM of a build, fully planned in advance. Pure functions."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import PurePosixPath

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, cpus_of, dealt_cpus
from density_study.cluster.model.dividing.virtio import Virtio, virtio_of
from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.model.host import MIB, Host, IoLimits, VcpuPolicy, VmHost
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.libvirt.names import (
    bridge_name,
    domain_name,
    mac_of,
    pool_name,
    prefix,
    uuid_of,
)
from density_study.cluster.providers.libvirt.xml import domain_xml, kernel_arguments
from density_study.cluster.state.events import Accel

VOLUMES = ("root", "seed", "data", "console")
"""The volumes of each guest, as <node>.<volume>: the clone, its seed, its data disks (data, data-2, ...), the
output of its kernel."""
GIB = 1024 * MIB


Network = tuple[str, str | None]
"""A bridge, and the host's address on it with its prefix length; None for the host's own bridge."""


@dataclass(frozen=True)
class Cell:
    """A NUMA node of a guest: its first and last vCPU."""

    first: int
    last: int
    memory_mib: int


@dataclass(frozen=True)
class Vcpus:
    """The number of vCPUs of a guest, and its exclusive CPUs of the host (empty: it may use any)."""

    count: int
    numa: Cpus = ()

    @property
    def pinned_to(self) -> tuple[int, ...]:
        """The host's CPU of each vCPU, in order."""
        return cpus_of(self.numa)

    def cells(self, memory_mib: int) -> list[Cell]:
        """The guest's own NUMA nodes, one for each that it has of the host, in equal parts of its memory."""
        cells, first = [], 0
        each_mib, rest_mib = divmod(memory_mib, len(self.numa))
        for number, node in enumerate(self.numa):
            last = first + len(node.cpus) - 1
            cells.append(Cell(first, last, each_mib + rest_mib * (number == 0)))
            first = last + 1
        return cells


def vcpus(policy: VcpuPolicy, cores: int, index: int, guests: int, where: str, host: Cpus) -> Vcpus:
    """vCPUs of the guest `index` (from 0) among `guests` on a host with `cores`.

    `pinned` gives each guest the same number; InputError if cores are left over, since densities would then
    use different hardware. They are pinned if the host's CPUs are known.
    """
    if policy == "all":
        return Vcpus(cores)
    if cores % guests or guests > cores:
        raise InputError(
            f"{counted(cores, 'core')} cannot be divided into equal shares for {guests} guests.",
            f"{where}, key vcpus",
            "set vcpus: all, or use densities that divide the host's cores.",
        )
    return Vcpus(cores // guests, dealt_cpus(host, index, guests, cores, where))


@dataclass(frozen=True)
class DataDisk:
    """One of a guest's data disks. `limits`: the guest's part of its drive's limits, shared by its data disks
    with the same `group`."""

    serial: str
    pool: str
    pool_path: PurePosixPath
    size_bytes: int
    limits: IoLimits | None = None
    group: str = ""


@dataclass(frozen=True)
class Guest:
    """`data`: one disk per drive that placement chose; root and seed disks are beside the first. `names` maps
    addresses to the names of all nodes."""

    tag: str
    node: Node
    host: Host
    vms: VmHost
    data: tuple[DataDisk, ...]
    vcpus: Vcpus
    virtio: Virtio
    names: Mapping[str, str]

    @property
    def pool(self) -> str:
        return self.data[0].pool

    @property
    def pool_path(self) -> PurePosixPath:
        return self.data[0].pool_path

    @property
    def domain(self) -> str:
        return domain_name(self.tag, self.node.name)

    @property
    def mac(self) -> str:
        return mac_of(self.tag, self.node.name)

    @property
    def address(self) -> str:
        """The guest's address with the subnet's prefix length."""
        return f"{self.node.address}/{ipaddress.ip_network(self.vms.network).prefixlen}"

    def volume(self, kind: str) -> str:
        return f"{self.node.name}.{kind}"

    def xml(self, accel: Accel, kernel: PurePosixPath, initrd: PurePosixPath) -> str:
        """Its domain. `kernel` and `initrd` are paths on its host."""
        return domain_xml(
            guest=self,
            name=self.domain,
            uuid=uuid_of(self.tag, "domain", self.domain),
            tag=self.tag,
            node=self.node.name,
            memory_mib=self.node.memory_mib + GUEST_OS_MIB,
            vcpus=self.vcpus,
            accel=accel,
            kernel=kernel,
            initrd=initrd,
            arguments=kernel_arguments(accel),
            network=prefix(self.tag),
        )


def by_uri(guests: Iterable[Guest]) -> dict[str, list[Guest]]:
    """Guests by the URI of their libvirt."""
    found: dict[str, list[Guest]] = defaultdict(list)
    for guest in guests:
        found[guest.vms.uri].append(guest)
    return found


def guests(
    site: Site, topology: Topology, cpus: Mapping[str, Cpus] | None = None
) -> tuple[Guest, ...]:
    """Every node of the topology as a guest. `cpus`: those of each host, by its name, where they are known.
    InputError names each host without libvirt or disk, whose CPUs cannot be divided as the study says, or
    that has a NUMA node with less memory than its guests."""
    hosts = {host.name: host for host in topology.hosts}

    def guest(node: Node) -> Guest:
        return _guest(site, topology, node, hosts[node.host], (cpus or {}).get(node.host, ()))

    found = tuple(each_of(topology.nodes, guest))

    def check(host: str) -> None:
        _check_numa_memory([one for one in found if one.node.host == host], (cpus or {})[host])

    each_of(cpus or (), check)
    return found


def _check_numa_memory(here: Sequence[Guest], numa: Cpus) -> None:
    """A pinned guest has memory of its NUMA nodes alone. The host's reserve is on all of them alike."""
    for node in numa:
        needed_mib = here[0].vms.reserve_mib / len(numa) + sum(
            (guest.node.memory_mib + GUEST_OS_MIB) / len(guest.vcpus.numa)
            for guest in here
            if node.number in {own.number for own in guest.vcpus.numa}
        )
        if node.memory_mib and needed_mib > node.memory_mib:
            raise InputError(
                f"its NUMA node {node.number} has {node.memory_mib} MiB; guests pinned to it and its part of "
                f"the host's reserve need {ceil(needed_mib)} MiB.",
                f"host {here[0].host.name!r}, key memory",
                f"write memory: {here[0].host.memory_mib - ceil(needed_mib - node.memory_mib) * len(numa)} "
                "MiB or less.",
                ("hosts",),
            )


def networks(site: Site, topology: Topology) -> dict[str, Network]:
    """The guests' network in each libvirt, by its URI."""
    found: dict[str, Network] = {}
    used = {node.host for node in topology.nodes}
    for vms in {_vms_of(host) for host in topology.hosts if host.name in used}:
        if vms.bridge is not None:
            found[vms.uri] = vms.bridge, None
            continue
        subnet = ipaddress.ip_network(vms.network)
        address = vms.host_address or str(next(subnet.hosts()))
        found[vms.uri] = bridge_name(site.tag), f"{address}/{subnet.prefixlen}"
    return found


def _guest(site: Site, topology: Topology, node: Node, host: Host, cpus: Cpus) -> Guest:
    vms = _vms_of(host)
    peers = [n.name for n in topology.workers if n.host == host.name]
    where = f"host {host.name!r}"
    if node.name in peers:
        own = vcpus(vms.vcpus, host.cores, peers.index(node.name), len(peers), where, cpus)
    else:
        own = Vcpus(host.cores)
    return Guest(
        tag=site.tag,
        node=node,
        host=host,
        vms=vms,
        data=_data_disks(site, topology, node, host),
        vcpus=own,
        virtio=virtio_of(topology, node),
        names={peer.address: peer.name for peer in topology.nodes},
    )


def _data_disks(site: Site, topology: Topology, node: Node, host: Host) -> tuple[DataDisk, ...]:
    """A worker's have equal parts of the size and of the limits of their drives."""
    drives = node.disks or host.disks[:1]
    if not drives:
        raise InputError(
            "it has no disk for its guests.", f"host {host.name!r}", "give the host a disk."
        )
    everyone = Counter(
        disk for one in topology.workers if one.host == host.name for disk in one.disks
    )
    found = []
    for number, disk in enumerate(drives, 1):
        parts, mine = (everyone[disk], drives.count(disk)) if "worker" in node.roles else (1, 1)
        found.append(
            DataDisk(
                serial="data" if number == 1 else f"data-{number}",
                pool=pool_name(site.tag, disk.path),
                pool_path=PurePosixPath(disk.path) / prefix(site.tag),
                size_bytes=_vms_of(host).data_gib * GIB // parts // MIB * MIB,
                limits=disk.limits and disk.limits.part(mine, parts),
                group=f"drive-{drives.index(disk) + 1}",
            )
        )
    return tuple(found)


def _vms_of(host: Host) -> VmHost:
    if host.vms is None:
        raise InputError(
            "it has no VMs: the key vms is missing.",
            f"host {host.name!r}",
            "add, for example, `vms: {network: 10.78.0.0/24, addresses: 10.78.0.11-10.78.0.12}`.",
        )
    return host.vms
