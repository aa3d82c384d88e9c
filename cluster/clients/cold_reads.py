"""Cold reads on a cluster: evict the blocks of all workers, count the device bytes of all DataNodes."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.clients import page_caches
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import node_paths

EVICTION = "posix_fadvise"
"""How blocks are evicted, as manifests name it."""
EVICTION_LIMIT_S = 1800.0
"""Dropping takes about a second per 10 GB: half an hour is for what no machine caches."""


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


def evict_blocks(cluster: Cluster, transport: Transport, logs: Path, timeout_scale: float) -> int:
    """Drop the cluster's own block files from the page caches; returns their total size in bytes. Output is
    below `logs`. StudyError if it fails, or takes too long."""
    places = node_paths(cluster.site, cluster.topology)
    folders = [
        (node, ("evict", *map(str, places.data_of(node)))) for node in cluster.topology.workers
    ]
    work = page_caches.begin(transport, "evict", folders, logs, EVICTION_LIMIT_S * timeout_scale)
    evicted = work.numbers()
    if evicted is None:
        raise StudyError(
            f"the workers' block files were not dropped from the page caches within {work.limit_s:.0f} s.",
            f"build {cluster.site.root.name}",
            f"see {logs}.",
        )
    return int(sum(evicted))
