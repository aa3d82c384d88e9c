"""Memory of nodes and daemons: reserves and heap sizes. Pure functions; all values in MiB.

A JVM uses more than its heap: metaspace, code cache, threads, direct buffers. `OVERHEAD_MIB` is what idle
Hadoop and HBase daemons were measured to use beyond their heaps.
"""

from __future__ import annotations

from collections.abc import Mapping

from cluster.model.errors import InputError
from cluster.model.topology import Node

OVERHEAD_MIB = 160
"""Of each JVM, beyond its heap."""
REGIONSERVER_LEAST_MIB = 256
"""Heap. A RegionServer gets what is left of its node, never less than this."""
CONTAINER_MIB = 256
"""Every YARN container: ApplicationMaster, map and reduce alike, so that as many fit at any density."""
CLIENT_HEAP_MIB = 512
CLIENT_RESERVE_MIB = CLIENT_HEAP_MIB + OVERHEAD_MIB
GUEST_OS_MIB = 192
"""Of a VM's memory: kernel, sshd, dool and some page cache; daemons divide the rest."""
CONTAINER_HEAP_MIB = 176
"""Of a container; the rest is what its JVM takes beyond."""

_MASTER_HEAPS = {"namenode": 256, "resourcemanager": 256, "zookeeper": 128, "hmaster": 256}
_WORKER_HEAPS = {"datanode": 128, "nodemanager": 128}


def _with_overhead(heaps: Mapping[str, int]) -> int:
    return sum(heaps.values()) + len(heaps) * OVERHEAD_MIB


MASTER_RESERVE_MIB = _with_overhead(_MASTER_HEAPS)


def worker_minimum_mib(regionservers: int) -> int:
    """The minimum that a worker node needs for its daemons, without YARN's containers."""
    return _with_overhead(_WORKER_HEAPS) + regionservers * (REGIONSERVER_LEAST_MIB + OVERHEAD_MIB)


def daemon_heaps(node: Node) -> dict[str, int]:
    """Heap of each kind of daemon on `node`, MiB; every one of its RegionServers gets `regionserver`.

    InputError if the node's memory cannot hold its daemons and its containers.
    """
    heaps = dict(_MASTER_HEAPS) if "master" in node.roles else {}
    if "worker" not in node.roles:
        return heaps
    heaps |= _WORKER_HEAPS
    if node.regionservers:
        fixed_mib = _with_overhead(heaps) + node.container_mib
        heaps["regionserver"] = _regionserver_heap(node, fixed_mib)
    return heaps


def _regionserver_heap(node: Node, fixed_mib: int) -> int:
    heap_mib = (node.memory_mib - fixed_mib) // node.regionservers - OVERHEAD_MIB
    if heap_mib >= REGIONSERVER_LEAST_MIB:
        return heap_mib
    least_mib = fixed_mib + node.regionservers * (REGIONSERVER_LEAST_MIB + OVERHEAD_MIB)
    raise InputError(
        f"{node.memory_mib} MiB cannot hold its daemons, {node.container_mib} MiB of containers and "
        f"{node.regionservers} RegionServer(s).",
        f"node {node.name!r}",
        f"give it {least_mib} MiB or more, or use fewer RegionServers or fewer nodes per host.",
    )
