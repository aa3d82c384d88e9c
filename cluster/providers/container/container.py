"""`Container`: one node of a build, fully planned in advance."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import ContainerHost, Host, IoLimits
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container.names import container_id, link_name

BUNDLES = "containers"
"""Of a build's folder: its containers' bundles."""


@dataclass(frozen=True)
class Container:
    """`cores` is its CPU quota, `pinned_to` the cores that it alone has; None and empty: all cores.

    `limits`: its share of the limits of its disk. `writable`: all that it may write to.
    """

    tag: str
    node: Node
    prefix_length: int
    cores: float | None
    pinned_to: tuple[int, ...]
    limits: IoLimits | None
    bundle: PurePath
    writable: tuple[PurePath, ...]

    @property
    def id(self) -> str:
        return container_id(self.tag, self.node.host, self.node.name)

    @property
    def link(self) -> str:
        return link_name(self.tag, self.node.name)

    @property
    def memory_mib(self) -> int:
        """What the node's daemons divide, and a part for page cache, as much as a VM's system has."""
        return self.node.memory_mib + GUEST_OS_MIB

    def disclose(self) -> dict[str, object]:
        """Its limits, for the disclosure."""
        return {
            "memory_mib": self.memory_mib,
            "cpu_quota_cores": self.cores,
            "pinned_to": list(self.pinned_to),
            "io_limits": self.limits.to_json() if self.limits else {},
        }


def network_of(host: Host) -> ContainerHost:
    """InputError for a host that the study does not divide into containers."""
    if host.containers is None:
        raise InputError(
            "it carries no containers.", f"host {host.name!r}", "use provider container."
        )
    return host.containers


def containers(
    site: Site,
    topology: Topology,
    usable: Mapping[str, Sequence[int]],
    folder: PurePath,
    writable: PurePath,
) -> tuple[Container, ...]:
    """Every node of the topology as a container. `usable`: the cores of each host, by its name. On every host
    the build has `folder`, and its nodes write to `writable` beside their data."""
    hosts = {host.name: host for host in topology.hosts}

    def planned(node: Node) -> Container:
        host = hosts[node.host]
        plan = network_of(host)
        is_worker = "worker" in node.roles
        peers = [one for one in topology.workers if one.host == host.name]
        share = host.cores / len(peers) if peers else 0.0
        return Container(
            tag=site.tag,
            node=node,
            prefix_length=ipaddress.ip_network(plan.network).prefixlen,
            cores=share if is_worker and plan.cpus == "quota" else None,
            pinned_to=_cores(usable[host.name], int(share), peers.index(node))
            if is_worker and plan.cpus == "pinned"
            else (),
            limits=_limits(node, topology) if is_worker else None,
            bundle=folder / BUNDLES / node.name,
            writable=(writable, *_own(site, node)),
        )

    return tuple(planned(node) for node in topology.nodes)


def _own(site: Site, node: Node) -> list[PurePath]:
    """Its data on disks; without a disk, they are in the build's folder."""
    data = directories.data_dir(site, node) if node.disk else None
    return [path for path in (data, directories.cache_dir(site, node)) if path]


def _cores(usable: Sequence[int], share: int, index: int) -> tuple[int, ...]:
    return tuple(usable[index * share : (index + 1) * share])


def _limits(node: Node, topology: Topology) -> IoLimits | None:
    """The workers on a disk divide its limits: together they have what the bare host has of it."""
    if node.disk is None or node.disk.limits is None:
        return None
    on_it = sum(one.host == node.host and one.disk == node.disk for one in topology.workers)
    return node.disk.limits.part(1, on_it)
