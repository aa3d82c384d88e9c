"""HDFS bytes by the distance between reader and DataNode, by the DataNodes' own counters.

A DataNode counts what it sent, and what of it went to another address. A rack is a host, as in the rendered
table of racks. Where several hosts have several nodes, the counters do not distinguish another node of the
host from another host: a client reads from the nearest replica, so that places of maps and of replicas divide
these bytes. Reads that bypass DataNodes (short circuit) are counted nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from density_study.cluster.clients.daemon_pages import datanode_counters
from density_study.cluster.clients.hdfs import Block
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Placed
from density_study.cluster.stores.answers import Fetch
from density_study.workloads.testdfsio.output.history import Attempt

_COUNTERS = {"read": "BytesRead", "to_others": "RemoteBytesRead"}
_MOST_OF_IT = 0.9
_AGREES = 0.1
"""Most difference between the share of bytes from other nodes by counters and by places."""
_FILE = re.compile(r"finished (\S+) ::host")
Sent = Mapping[str, Mapping[str, int]]
"""Node -> bytes that its DataNode has sent to readers, and of these to readers on other nodes."""
UNKNOWN = dict.fromkeys(("sent", "local", "rack", "remote"))


def read_sent(cluster: Cluster, fetch: Fetch | None = None) -> Sent | None:
    """Since the DataNodes started. None if one does not answer."""
    try:
        found = datanode_counters(cluster, "DataNodeActivity-*", _COUNTERS, fetch)
    except StudyError:
        return None
    return {name.partition("/")[0]: counters for name, counters in found.items()}


@dataclass(frozen=True)
class Nearest:
    """Bytes whose nearest replica is on the reader's own node, on another node of its host (rack), or on
    another host."""

    local: int
    rack: int
    remote: int


def bytes_by_distance(
    topology: Placed,
    before: Sent | None,
    after: Sent | None,
    asked_bytes: int,
    nearest: Callable[[], Nearest | None],
) -> dict[str, int | None]:
    """Bytes that DataNodes sent between two readings, in which `asked_bytes` were requested; and of these to
    readers on the same node (local), on another node of the same host (rack), and on another host (remote).

    nearest: used where the counters do not distinguish rack from remote. None: not known; local where nodes
    share an address or most bytes bypassed the DataNodes, rack and remote also where `nearest` contradicts
    local.
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
    others = sum(one["to_others"] for one in grown.values())
    rack, remote = _split(topology, others, read, nearest)
    return {"sent": read, "local": read - others, "rack": rack, "remote": remote}


def _split(
    topology: Placed, others: int, read: int, nearest: Callable[[], Nearest | None]
) -> tuple[int, int] | tuple[None, None]:
    """For the bytes sent to other nodes: those to nodes of the same host, and to other hosts."""
    hosts = {node.host for node in topology.workers}
    if len(hosts) in (1, len(topology.workers)) or not others:
        return (others, 0) if len(hosts) == 1 else (0, others)
    found = nearest()
    if found is None or not found.rack + found.remote:
        return None, None
    whole = found.local + found.rack + found.remote
    if abs((found.rack + found.remote) / whole - others / read) > _AGREES:
        return None, None
    rack = round(others * found.rack / (found.rack + found.remote))
    return rack, others - rack


def nearest_replicas(
    topology: Placed, attempts: Iterable[Attempt], files: Mapping[str, Sequence[Block]]
) -> Nearest | None:
    """Bytes by distance, from the maps that succeeded, each of which read its file evenly. None if one does
    not say which file that was, or ran on no worker."""
    by_address = {node.address: node for node in topology.workers}
    found = {"local": 0, "rack": 0, "remote": 0}
    for attempt in attempts:
        said, reader = _FILE.match(attempt.last_words), by_address.get(attempt.host or "")
        if said is None or reader is None or said[1] not in files:
            return None
        for block in files[said[1]]:
            hosts = {by_address[one].host for one in block.nodes if one in by_address}
            where = (
                "local"
                if reader.address in block.nodes
                else "rack"
                if reader.host in hosts
                else "remote"
            )
            found[where] += block.size_bytes
    return Nearest(**found)
