"""Where victim and neighbour are: on two workers of one host. Pure."""

from __future__ import annotations

from cluster.model.topology import Node, Topology

NOBODY = "nobody"
"""The neighbour of a victim alone."""


def pair(topology: Topology) -> tuple[Node, Node] | None:
    """(victim's node, neighbour's node): the first two workers that share a host. None: there are none."""
    for host in topology.hosts:
        workers = [node for node in topology.workers if node.host == host.name]
        if len(workers) > 1:
            return workers[0], workers[1]
    return None
