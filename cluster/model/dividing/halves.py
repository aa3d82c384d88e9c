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
        if found:
            taken = allocate_ports(found[-1]).of_addresses.values()
            last = max(port for ports in taken for port in ports)
            topology = replace(topology, base_port=last + 1)
        allocate_ports(topology)
        found.append(topology)
    return tuple(found)
