"""`Ports`: explicit ports for all daemons of a topology; none is left to a default.

Several DataNodes, NodeManagers or RegionServers on one address collide on default ports, so each
address has one run of ports from `base_port`. Ports of an ApplicationMaster stay ephemeral: Hadoop
cannot fix all of them, and the kernel never hands out a port that is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Node, Topology

FIRST_PORT, LAST_PORT = 1024, 32767
"""Below Linux's ephemeral range (32768 and up), whose ports outgoing connections may take."""


@dataclass(frozen=True)
class Ports:
    """(node, service) -> (address, port)."""

    by_service: Mapping[tuple[str, str], tuple[str, int]]

    @property
    def of_addresses(self) -> Mapping[str, list[int]]:
        """Address -> its ports."""
        found: dict[str, list[int]] = defaultdict(list)
        for address, port in self.by_service.values():
            found[address].append(port)
        return found

    def port(self, node: Node, service: str) -> int:
        return self.by_service[node.name, service][1]

    def address(self, node: Node, service: str) -> str:
        """host:port, as Hadoop's configuration wants it."""
        host, port = self.by_service[node.name, service]
        return f"{host}:{port}"


def allocate_ports(topology: Topology) -> Ports:
    """Consecutive ports on each address, from `base_port`. InputError if they do not fit its range."""
    upcoming: dict[str, int] = defaultdict(lambda: topology.base_port)
    taken: dict[tuple[str, str], tuple[str, int]] = {}
    for node in topology.nodes:
        for service in topology.store.ports(node.roles, node.regionserver_names):
            taken[node.name, service] = node.address, upcoming[node.address]
            upcoming[node.address] += 1
    last = max(upcoming.values(), default=topology.base_port + 1) - 1
    if not FIRST_PORT <= topology.base_port <= last <= LAST_PORT:
        raise InputError(
            f"the cluster needs ports {topology.base_port} to {last}; "
            f"the usable range is {FIRST_PORT} to {LAST_PORT}.",
            "stack.base_port",
            f"choose a base port of at most {LAST_PORT - (last - topology.base_port)}.",
        )
    return Ports(taken)
