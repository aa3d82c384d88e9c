"""`Guest`: one VM of a build, fully planned in advance. Pure functions."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host, VcpuPolicy, VmHost
from density_study.cluster.model.memory import GUEST_OS_MIB
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
"""Of each guest, as <node>.<volume>: the clone, its seed, its data, the output of its kernel."""


Network = tuple[str, str | None]
"""A bridge, and the host's address on it with its prefix length; None for the host's own bridge."""


@dataclass(frozen=True)
class Vcpus:
    """The number of vCPUs of a guest, and the host cores they may run on (empty: any)."""

    count: int
    pinned_to: tuple[int, ...] = ()


def vcpus(policy: VcpuPolicy, cores: int, index: int, guests: int, where: str) -> Vcpus:
    """vCPUs of the guest `index` (from 0) among `guests` on a host with `cores`.

    `pinned` gives each guest the same number of exclusive cores; InputError if cores are left over, since
    densities would then use different hardware.
    """
    if policy == "all":
        return Vcpus(cores)
    if cores % guests or guests > cores:
        raise InputError(
            f"{cores} core(s) cannot be divided into equal shares for {guests} guests.",
            f"{where}, key vcpus",
            "set vcpus: all, or use densities that divide the host's cores.",
        )
    share = cores // guests
    return Vcpus(share, tuple(range(index * share, (index + 1) * share)))


@dataclass(frozen=True)
class Guest:
    """`pool` is on the disk that placement chose. `names` maps addresses to the names of all nodes."""

    tag: str
    node: Node
    host: Host
    vms: VmHost
    pool: str
    pool_path: PurePosixPath
    vcpus: Vcpus
    names: Mapping[str, str]

    @property
    def domain(self) -> str:
        return domain_name(self.tag, self.node.name)

    @property
    def mac(self) -> str:
        return mac_of(self.tag, self.node.name)

    @property
    def address(self) -> str:
        """With the subnet's prefix length."""
        return f"{self.node.address}/{ipaddress.ip_network(self.vms.network).prefixlen}"

    def volume(self, kind: str) -> str:
        return f"{self.node.name}.{kind}"

    def xml(self, accel: Accel, kernel: PurePosixPath, initrd: PurePosixPath) -> str:
        """Its domain. `kernel` and `initrd` are paths on its host."""
        limits = self.node.disk.limits if self.node.disk else None
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
            disks=[
                ("root", "qcow2", "vda", None),
                ("seed", "raw", "vdb", None),
                ("data", "raw", "vdc", limits),
            ],
            network=prefix(self.tag),
        )


def by_uri(guests: Iterable[Guest]) -> dict[str, list[Guest]]:
    """Guests by the URI of their libvirt."""
    found: dict[str, list[Guest]] = defaultdict(list)
    for guest in guests:
        found[guest.vms.uri].append(guest)
    return found


def guests(site: Site, topology: Topology) -> tuple[Guest, ...]:
    """Every node of the topology as a guest. InputError for a host without libvirt or disk."""
    hosts = {host.name: host for host in topology.hosts}
    return tuple(_guest(site, topology, node, hosts[node.host]) for node in topology.nodes)


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


def _guest(site: Site, topology: Topology, node: Node, host: Host) -> Guest:
    disk = node.disk or (host.disks[0] if host.disks else None)
    if disk is None:
        raise InputError(
            "it has no disk for its guests.", f"host {host.name!r}", "give the host a disk."
        )
    peers = [n.name for n in topology.workers if n.host == host.name]
    index, count = (peers.index(node.name), len(peers)) if node.name in peers else (0, 1)
    vms = _vms_of(host)
    return Guest(
        tag=site.tag,
        node=node,
        host=host,
        vms=vms,
        pool=pool_name(site.tag, disk.path),
        pool_path=PurePosixPath(disk.path) / prefix(site.tag),
        vcpus=vcpus(vms.vcpus, host.cores, index, count, f"host {host.name!r}"),
        names={peer.address: peer.name for peer in topology.nodes},
    )


def _vms_of(host: Host) -> VmHost:
    if host.vms is None:
        raise InputError(
            "the key is missing.",
            f"host {host.name!r}, key libvirt",
            "add libvirt: {uri: ..., addresses: [...], network: ...}.",
        )
    return host.vms
