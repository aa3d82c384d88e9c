"""HDFS bytes by the distance between reader and DataNode, by the DataNodes' own counters.

A DataNode counts what it sent, and what of it went to another address. A rack is a host, as in the rendered
table of racks. Reads that bypass DataNodes (short circuit) are counted nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.clients.daemon_pages import datanode_counters
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node, Placed
from density_study.cluster.stores.answers import Fetch

_COUNTERS = {"read": "BytesRead", "to_others": "RemoteBytesRead"}
_MOST_OF_IT = 0.9
Sent = Mapping[str, Mapping[str, int]]
"""Node -> bytes that its DataNode has sent to readers, and of these to readers on other nodes."""
UNKNOWN = dict.fromkeys(("sent", "local", "rack", "remote"))


def read_sent(cluster: Cluster, fetch: Fetch | None = None) -> Sent | None:
    """Since the DataNodes started. None if one does not tell."""
    try:
        found = datanode_counters(cluster, "DataNodeActivity-*", _COUNTERS, fetch)
    except StudyError:
        return None
    return {name.partition("/")[0]: counters for name, counters in found.items()}


def bytes_by_distance(
    topology: Placed, before: Sent | None, after: Sent | None, asked_bytes: int
) -> dict[str, int | None]:
    """Bytes that DataNodes sent between two readings, in which `asked_bytes` were asked for; and of these to
    readers on the same node (local), on another node of the same host (rack), and on another host (remote).

    None: not known. Rack and remote are known unless a node has neighbours of both kinds, local unless nodes
    share an address or most bytes bypassed the DataNodes.
    """
    names = {node.name for node in topology.workers}
    shared = len({node.address for node in topology.workers}) < len(names)
    if before is None or after is None or {*before} != names or {*after} != names or shared:
        return dict(UNKNOWN)
    grown = {
        name: {key: count - before[name][key] for key, count in now.items()}
        for name, now in after.items()
    }
    read = sum(one["read"] for one in grown.values())
    if (
        min(by for one in grown.values() for by in one.values()) < 0
        or read < _MOST_OF_IT * asked_bytes
    ):
        return dict(UNKNOWN)
    elsewhere = {"rack": 0, "remote": 0, "": 0}
    for node in topology.workers:
        elsewhere[_whereabouts(node, topology)] += grown[node.name]["to_others"]
    split = elsewhere["rack"], elsewhere["remote"]
    rack, remote = (None, None) if elsewhere[""] else split
    local = read - sum(elsewhere.values())
    return {"sent": read, "local": local, "rack": rack, "remote": remote}


def _whereabouts(node: Node, topology: Placed) -> str:
    """Where all other workers are, seen from the node; empty if they differ in it."""
    others = {other.host == node.host for other in topology.workers if other != node}
    return "" if len(others) > 1 else "rack" if others == {True} else "remote"
