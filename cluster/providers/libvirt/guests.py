"""`Guest`: one VM of a build, fully planned in advance. Pure functions."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import PurePosixPath

from cluster.model.cluster import Site
from cluster.model.errors import InputError
from cluster.model.host import Host, VmHost
from cluster.model.memory import GUEST_OS_MIB
from cluster.model.topology import Node, Topology
from cluster.providers.libvirt.cpus import Vcpus, vcpus
from cluster.providers.libvirt.names import (
    bridge_name,
    domain_name,
    mac_of,
    network_name,
    pool_name,
    prefix,
    uuid_of,
)
from cluster.providers.libvirt.xml import DiskXml, DomainXml, kernel_arguments
from cluster.state.events import Accel

VOLUMES = ("root", "seed", "data", "console")
"""Of each guest, as <node>.<volume>: the clone, its seed, what it writes, what its kernel said."""


@dataclass(frozen=True)
class Guest:
    """`pool` lies on the disk that placement chose; `vms` is where the guest's host has its libvirt."""

    tag: str
    node: Node
    host: Host
    vms: VmHost
    pool: str
    pool_path: PurePosixPath
    vcpus: Vcpus

    @property
    def domain(self) -> str:
        return domain_name(self.tag, self.node.name)

    @property
    def domain_uuid(self) -> str:
        return uuid_of(self.tag, "domain", self.domain)

    @property
    def mac(self) -> str:
        return mac_of(self.tag, self.node.name)

    @property
    def memory_mib(self) -> int:
        return self.node.memory_mib + GUEST_OS_MIB

    @property
    def address(self) -> str:
        """With the subnet's prefix length."""
        return f"{self.node.address}/{ipaddress.ip_network(self.vms.network).prefixlen}"

    def volume(self, kind: str) -> str:
        return f"{self.node.name}.{kind}"

    def xml(self, accel: Accel, kernel: PurePosixPath, initrd: PurePosixPath) -> DomainXml:
        limits = self.node.disk.limits if self.node.disk else None
        return DomainXml(
            name=self.domain,
            uuid=self.domain_uuid,
            tag=self.tag,
            node=self.node.name,
            memory_mib=self.memory_mib,
            vcpus=self.vcpus,
            accel=accel,
            cache=self.vms.cache,
            kernel=kernel,
            initrd=initrd,
            console=self.pool_path / self.volume("console"),
            disks=(
                DiskXml(self.pool, self.volume("root"), "qcow2", "root"),
                DiskXml(self.pool, self.volume("seed"), "raw", "seed"),
                DiskXml(self.pool, self.volume("data"), "raw", "data", limits),
            ),
            network=network_name(self.tag),
            mac=self.mac,
            arguments=kernel_arguments(accel),
        )


def guests(site: Site, topology: Topology) -> tuple[Guest, ...]:
    """Every node of the topology as a guest. InputError for a host without libvirt or disk."""
    hosts = {host.name: host for host in topology.hosts}
    return tuple(_guest(site, topology, node, hosts[node.host]) for node in topology.nodes)


def networks(site: Site, topology: Topology) -> dict[str, tuple[str, str, str | None]]:
    """libvirt's URI -> (UUID, bridge, the host's address with prefix or None for its own bridge)."""
    name = network_name(site.tag)
    uuid = uuid_of(site.tag, "network", name)
    found: dict[str, tuple[str, str, str | None]] = {}
    for vms in {_vms_of(host) for host in topology.hosts if _carries(topology, host)}:
        if vms.bridge is not None:
            found[vms.uri] = uuid, vms.bridge, None
            continue
        subnet = ipaddress.ip_network(vms.network)
        address = vms.host_address or str(next(subnet.hosts()))
        found[vms.uri] = uuid, bridge_name(site.tag), f"{address}/{subnet.prefixlen}"
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
    )


def _carries(topology: Topology, host: Host) -> bool:
    return any(node.host == host.name for node in topology.nodes)


def _vms_of(host: Host) -> VmHost:
    if host.vms is None:
        raise InputError(
            "the key is missing.",
            f"host {host.name!r}, key libvirt",
            "add libvirt: {uri: ..., addresses: [...], network: ...}.",
        )
    return host.vms
