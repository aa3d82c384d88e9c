"""What a guest's network card and data disks get of their host's parallelism: equal sums at every density.

More queues and I/O threads carry more. With one of each per guest, more guests would be faster by themselves.
Pure functions of a topology.
"""

from __future__ import annotations

from dataclasses import dataclass

from density_study.cluster.model.topology import Node, Topology

MAX_QUEUES = 256
"""For a host's guests together: Linux allows a tap device as many, and one guest may have them all."""


@dataclass(frozen=True)
class Virtio:
    """Queues of a guest's network card and of each of its data disks. Each data disk has an I/O thread."""

    network_queues: int
    disk_queues: int
    io_threads: int


def virtio_of(topology: Topology, node: Node) -> Virtio:
    """A master or client may use all of its host; workers divide it."""
    host = next(host for host in topology.hosts if host.name == node.host)
    queues = min(host.cores, MAX_QUEUES)
    if "worker" not in node.roles:
        return Virtio(queues, queues, 1)
    peers = [one for one in topology.workers if one.host == host.name]
    extra = peers.index(node) < queues % len(peers)
    data_disks = sum(len(one.disks) for one in peers)
    return Virtio(
        network_queues=max(1, queues // len(peers) + extra),
        disk_queues=max(1, queues // data_disks),
        io_threads=len(node.disks),
    )
