"""`Container`: one node of a build, fully planned in advance."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import ContainerHost, Host, IoLimits
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container.names import container_id, link_name


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
    bundle: Path
    writable: tuple[Path, ...]

    @property
    def id(self) -> str:
        return container_id(self.tag, self.node.name)

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


def containers(site: Site, topology: Topology) -> tuple[Container, ...]:
    """Every node of the topology as a container."""
    hosts = {host.name: host for host in topology.hosts}
    return tuple(_container(site, topology, node, hosts[node.host]) for node in topology.nodes)


def _container(site: Site, topology: Topology, node: Node, host: Host) -> Container:
    plan = network_of(host)
    is_worker = "worker" in node.roles
    peers = [one for one in topology.workers if one.host == host.name]
    share = host.cores / len(peers) if peers else 0.0
    own = (directories.data_dir(site, node), directories.cache_dir(site, node))
    return Container(
        tag=site.tag,
        node=node,
        prefix_length=ipaddress.ip_network(plan.network).prefixlen,
        cores=share if is_worker and plan.cpus == "quota" else None,
        pinned_to=_cores(int(share), peers.index(node))
        if is_worker and plan.cpus == "pinned"
        else (),
        limits=_limits(node, topology) if is_worker else None,
        bundle=bundles(site) / node.name,
        # the run's folder holds configuration, logs and records, under the same paths as on the host
        writable=(site.root.absolute().parents[1], *filter(None, own)),
    )


def bundles(site: Site) -> Path:
    return site.root.absolute() / "containers"


def _cores(share: int, index: int) -> tuple[int, ...]:
    """Of those that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0))[index * share : (index + 1) * share])


def _limits(node: Node, topology: Topology) -> IoLimits | None:
    """The workers on a disk divide its limits: together they have what the bare host has of it."""
    if node.disk is None or node.disk.limits is None:
        return None
    on_it = sum(one.host == node.host and one.disk == node.disk for one in topology.workers)
    limits: Mapping[str, int | None] = asdict(node.disk.limits)
    return IoLimits(**{key: value and max(1, value // on_it) for key, value in limits.items()})
