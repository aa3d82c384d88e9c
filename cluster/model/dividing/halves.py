"""Two clusters at the same time on the same hosts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from density_study.cluster.model.host import Host
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.topology import Topology


def halved(hosts: Sequence[Host]) -> tuple[Host, ...]:
    """The hosts with half of their memory, for each of two clusters. Cores and drives are whole: their
    clients work in turns, so each cluster has all of them in its own."""
    return tuple(replace(host, memory_mib=host.memory_mib // 2) for host in hosts)


def with_own_ports(topologies: Sequence[Topology]) -> tuple[Topology, ...]:
    """The topologies, each with ports after those of the one before it. InputError if they do not fit."""
    found: list[Topology] = []
    for topology in topologies:
        own = replace(topology, base_port=_last_port(found[-1]) + 1) if found else topology
        allocate_ports(own)
        found.append(own)
    return tuple(found)


def _last_port(topology: Topology) -> int:
    return max(port for ports in allocate_ports(topology).of_addresses.values() for port in ports)
