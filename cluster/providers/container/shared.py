"""What containers on this machine and on hosts over SSH have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import cpus_from, pinning
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.container.container import network_of
from density_study.cluster.providers.container.making import Act
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.provider import NodeTime
from density_study.cluster.providers.ssh.programs import Need

NO_INTERRUPTS = dict.fromkeys(
    ("irq_affinity", "coalesce"),
    "the veth pair of a container has no interrupts; use provider physical",
)
"""Keys of the factor network that containers cannot have, and why."""
NEEDS = (Need("runc", "runc"), Need("ip", "iproute2"), Need("nsenter", "util-linux"))


def limited_paths(host: Host) -> list[str]:
    """The disks with limits."""
    return [disk.path for disk in host.disks if disk.limits]


def spent_on(act: Act, site: Site, nodes: Sequence[Node]) -> dict[str, NodeTime]:
    """CPU time of the nodes of one host."""
    names = {node.name: container_id(site.tag, node.host, node.name) for node in nodes}
    times = act("containers-spent", list(names.values()))
    return {node: NodeTime(**times[name]) for node, name in names.items()}


def disclose_containers(
    facts: Iterable[Mapping[str, Any]], topology: Topology
) -> dict[str, dict[str, Any]]:
    """`facts` of every host; where they differ, each value is named once."""
    every = list(facts)
    cpus = network_of(topology.hosts[0]).cpus
    pins = sorted({pinning(cpus == "pinned", cpus_from(one["cpus"])) for one in every})
    versions = sorted({one["cgroup_version"] for one in every})
    return {
        "containers": {
            "runc": ", ".join(sorted({one["runc"] for one in every})),
            "cgroup_version": versions[0] if len(versions) == 1 else versions,
            "cpus": cpus,
            "pinning": ", ".join(pins),
        }
    }


def memory_mib(topology: Topology) -> int:
    """The containers' limits include the page cache."""
    return sum(node.memory_mib + GUEST_OS_MIB for node in topology.nodes)
