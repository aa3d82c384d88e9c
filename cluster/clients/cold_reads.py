"""Cold reads on a cluster: evict the blocks of all workers, count the device bytes of all DataNodes."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from cluster.model.cluster import Cluster
from cluster.model.transport import Transport
from cluster.providers.provider import node_paths


@dataclass(frozen=True)
class Evicted:
    method: str
    bytes: int


@dataclass(frozen=True)
class IoCounters:
    """Bytes from and to devices caused by the cluster's DataNodes since they started."""

    read_bytes: int
    written_bytes: int

    @classmethod
    def read(cls, cluster: Cluster, transport: Transport) -> IoCounters:
        """StudyError or OSError if a DataNode is gone."""
        read_bytes = written_bytes = 0
        for node in cluster.topology.workers:
            here = (process for process in cluster.processes if process.node == node.name)
            pids = [process.pid for process in here if process.name.startswith("datanode")]
            counted = transport.act(node, "io-bytes", pids)
            read_bytes += counted["read_bytes"]
            written_bytes += counted["write_bytes"]
        return cls(read_bytes, written_bytes)

    def since(self, earlier: dict[str, int]) -> IoCounters:
        return IoCounters(
            self.read_bytes - earlier["read_bytes"], self.written_bytes - earlier["written_bytes"]
        )

    def to_json(self) -> dict[str, int]:
        return asdict(self)


def flush_dirty_pages(cluster: Cluster, transport: Transport) -> None:
    """On every worker's machine: sync, and wait until few dirty pages are left."""
    by_machine = {node.address: node for node in cluster.topology.workers}
    for node in by_machine.values():
        transport.act(node, "flush-dirty-pages")


def evict_blocks(cluster: Cluster, transport: Transport) -> Evicted:
    """Drop the cluster's own block files from the page caches; returns their total size in bytes."""
    places = node_paths(cluster.site, cluster.topology)
    folders = [(node, path) for node in cluster.topology.workers for path in places.data_of(node)]
    size_bytes = sum(transport.act(node, "evict", str(folder)) for node, folder in folders)
    return Evicted("posix_fadvise", size_bytes)
