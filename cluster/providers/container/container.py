"""`Container`: one node of a build, fully planned in advance."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, cpus_of, dealt_cpus
from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.model.host import ContainerHost, Host, IoLimits
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container.names import container_id, link_name

BUNDLES = "containers"
"""The folder of a build that holds its containers' bundles."""


@dataclass(frozen=True)
class Container:
    """`cores` is its CPU quota, `numa` its exclusive CPUs; None and empty: all cores.

    `limits`: its share of the limits of each of its drives, by path. `writable`: all that it may write to,
    beside a /tmp of its own. `software`: folders of what its nodes run.
    """

    tag: str
    node: Node
    prefix_length: int
    cores: float | None
    numa: Cpus
    limits: Mapping[str, IoLimits]
    bundle: PurePath
    writable: tuple[PurePath, ...]
    software: tuple[PurePath, ...]

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
            "pinned_to": list(cpus_of(self.numa)),
            "io_limits": {path: limits.to_json() for path, limits in self.limits.items()},
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
    cpus: Mapping[str, Cpus],
    folder: PurePath,
    writable: PurePath,
    software: tuple[PurePath, ...],
) -> tuple[Container, ...]:
    """Every node of the topology as a container. `cpus`: those of each host, by its name. On every host the
    build has `folder`, and its nodes write to `writable` beside their data, and run `software`."""
    hosts = {host.name: host for host in topology.hosts}
    promised = topology.variant.oversubscribed

    def planned(node: Node) -> Container:
        host = hosts[node.host]
        plan = network_of(host)
        is_worker = "worker" in node.roles
        peers = [one for one in topology.workers if one.host == host.name]
        numa: Cpus = ()
        if is_worker:
            numa = _pinned(host, peers.index(node), len(peers), cpus[host.name])
        # without knowing its cores, a host cannot deal out whole ones: a share of their time is as much
        limited = is_worker and plan.cpus != "all" and not numa
        return Container(
            tag=site.tag,
            node=node,
            prefix_length=ipaddress.ip_network(plan.network).prefixlen,
            cores=promised.cores_of(host.cores, len(peers)) if limited else None,
            numa=numa,
            limits=_limits(node, topology) if is_worker else {},
            bundle=folder / BUNDLES / node.name,
            writable=(writable, *_own(site, node)),
            software=software,
        )

    return tuple(planned(node) for node in topology.nodes)


def check_shares(topology: Topology, cpus: Mapping[str, Cpus]) -> None:
    """InputError names each host whose CPUs cannot be dealt out as the study says. `cpus` as of
    `containers`."""

    def check(host: Host) -> None:
        if workers := sum(one.host == host.name for one in topology.workers):
            _pinned(host, 0, workers, cpus[host.name])

    each_of(topology.hosts, check)


def _pinned(host: Host, index: int, workers: int, cpus: Cpus) -> Cpus:
    """What the worker `index` of a host alone has; empty if it has no CPUs of its own."""
    if network_of(host).cpus != "pinned":
        return ()
    return dealt_cpus(cpus, index, workers, host.cores, f"host {host.name!r}")


def _own(site: Site, node: Node) -> list[PurePath]:
    """Its data on disks; without a disk, they are in the build's folder."""
    data = [directories.data_on(disk, site, node) for disk in node.disks]
    return [path for path in (*data, directories.cache_dir(site, node)) if path]


def _limits(node: Node, topology: Topology) -> dict[str, IoLimits]:
    """The workers on a drive divide its limits: together they have what the bare host has of it."""
    here = [one for one in topology.workers if one.host == node.host]
    return {
        disk.path: disk.limits.part(1, sum(disk in one.disks for one in here))
        for disk in node.disks
        if disk.limits
    }
