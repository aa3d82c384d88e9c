"""Cold reads on a cluster: evict the blocks of all workers, count the device bytes of all DataNodes."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import node_paths

EVICTION = "posix_fadvise"
"""How blocks are evicted, as manifests name it."""


def device_bytes(cluster: Cluster, transport: Transport) -> dict[str, int]:
    """`read_bytes` and `written_bytes` from and to devices, caused by the cluster's DataNodes since they
    started. StudyError or OSError if a DataNode is gone."""
    read_bytes = written_bytes = 0
    for node in cluster.topology.workers:
        here = (process for process in cluster.processes if process.node == node.name)
        pids = [process.pid for process in here if process.name.startswith("datanode")]
        counted = transport.act(node, "io-bytes", pids)
        read_bytes += counted["read_bytes"]
        written_bytes += counted["write_bytes"]
    return {"read_bytes": read_bytes, "written_bytes": written_bytes}


def evict_blocks(cluster: Cluster, transport: Transport) -> int:
    """Drop the cluster's own block files from the page caches; returns their total size in bytes."""
    places = node_paths(cluster.site, cluster.topology)
    folders = [(node, path) for node in cluster.topology.workers for path in places.data_of(node)]
    return sum(transport.act(node, "evict", str(folder)) for node, folder in folders)
