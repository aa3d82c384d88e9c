"""Memory of nodes and daemons: reserves and heap sizes. Pure functions; all values in MiB.

A JVM uses more than its heap: metaspace, code cache, threads, direct buffers. `OVERHEAD_MIB` is what idle
Hadoop and HBase daemons were measured to use beyond their heaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from density_study.cluster.model.configuration import PLAIN, Configuration, DaemonKind
from density_study.cluster.model.dividing.sizing import MASTERS, SMALLEST, WORKERS, Sizing
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import Node, Topology

OVERHEAD_MIB = 160
"""Memory of each JVM beyond its heap."""
REGIONSERVER_LEAST_MIB = 256
"""Heap. A RegionServer gets what is left of its node, never less than this, unless a study sets it."""
COMPRESSED_BELOW_MIB = 32 * 1024
"""Heaps from this size on have pointers of 64 bits."""
LEAST_DAEMON_HEAP_MIB = 64
"""With less, a daemon's JVM does not come up, or collects garbage without end."""
CLIENT_HEAP_MIB = 512
"""For a client that is not a load generator, and the least that a host's load generators get together."""
CLIENT_HEAP_MOST_MIB = 8192
CLIENT_HEAP_SHARE = 1 / 16
"""Share of the client host's memory. With 512 MiB and the serial collector, YCSB collected garbage 15 times a
second at 1,100 scans per second: at the rates of large clusters, its pauses would be the p99."""
GUEST_OS_MIB = 192
"""For a VM's memory: kernel, sshd, dool and page cache; daemons divide the rest. The same of a container."""


def client_heap_mib(host_mib: int) -> int:
    """Heap of all load generators on a host with this memory together."""
    return max(CLIENT_HEAP_MIB, min(CLIENT_HEAP_MOST_MIB, int(host_mib * CLIENT_HEAP_SHARE)))


def client_reserve_mib(host_mib: int) -> int:
    """Memory that a host keeps for its clients."""
    return client_heap_mib(host_mib) + OVERHEAD_MIB


def _with_overhead(heaps: Mapping[str, int]) -> int:
    return sum(heaps.values()) + len(heaps) * OVERHEAD_MIB


def _heaps(
    kinds: Sequence[DaemonKind], configuration: Configuration, sizing: Sizing
) -> dict[str, int]:
    """The heaps that the configuration names, else our own."""
    own = sizing.heaps_of(kinds)
    return {kind: configuration.of(kind).heap_mib or mib for kind, mib in own.items()}


def master_reserve_mib(
    configuration: Configuration = PLAIN,
    sizing: Sizing = SMALLEST,
    more: Mapping[str, int] = MappingProxyType({}),
) -> int:
    """What the master's daemons need. `more`: heaps of those that HBase has not."""
    return _with_overhead(_heaps(MASTERS, configuration, sizing) | dict(more))


def worker_minimum_mib(
    regionservers: int, configuration: Configuration = PLAIN, sizing: Sizing = SMALLEST
) -> int:
    """The minimum that a worker node needs for its daemons, without YARN's containers."""
    fixed_mib = _with_overhead(_heaps(WORKERS, configuration, sizing))
    fixed_mib += configuration.hdfs_cache_mib
    return fixed_mib + regionservers * _regionserver_least_mib(configuration)


def _regionserver_least_mib(configuration: Configuration) -> int:
    """Heap, a JVM's overhead, and what it keeps off the heap."""
    heap_mib = configuration.of("regionserver").heap_mib or REGIONSERVER_LEAST_MIB
    return heap_mib + OVERHEAD_MIB + configuration.off_heap_mib


def daemon_heaps(
    node: Node, configuration: Configuration = PLAIN, sizing: Sizing = SMALLEST
) -> dict[str, int]:
    """Heap of each kind of daemon on `node`, MiB; every one of its RegionServers gets `regionserver`.

    InputError if the node's memory cannot hold its daemons and its containers.
    """
    heaps = _heaps(MASTERS, configuration, sizing) if "master" in node.roles else {}
    if "worker" not in node.roles:
        return heaps
    heaps |= _heaps(WORKERS, configuration, sizing)
    if node.regionservers:
        fixed_mib = _with_overhead(heaps) + node.container_mib + configuration.hdfs_cache_mib
        most_mib = int(node.memory_mib * sizing.regionserver_percent / 100) // node.regionservers
        most_mib = max(REGIONSERVER_LEAST_MIB, most_mib)
        heaps["regionserver"] = _regionserver_heap(node, fixed_mib, configuration, most_mib)
    return heaps


def regionserver_heaps_mib(topology: Topology) -> dict[str, int]:
    """The heap of a RegionServer on each host that has one."""
    given = topology.configuration, topology.variant.sizing
    return {
        node.host: daemon_heaps(node, *given)["regionserver"]
        for node in topology.workers
        if node.regionservers
    }


def _regionserver_heap(
    node: Node, fixed_mib: int, configuration: Configuration, most_mib: int
) -> int:
    least_mib = _regionserver_least_mib(configuration)
    share_mib = (node.memory_mib - fixed_mib) // node.regionservers
    if share_mib < least_mib:
        off_heap = f", {configuration.off_heap_mib} MiB off-heap each" * bool(
            configuration.off_heap_mib
        )
        raise InputError(
            f"{node.memory_mib} MiB cannot hold its daemons, {node.container_mib} MiB of containers and "
            f"{counted(node.regionservers, 'RegionServer')}{off_heap}.",
            f"node {node.name!r}",
            f"give it {fixed_mib + node.regionservers * least_mib} MiB or more, or use fewer RegionServers "
            "or fewer nodes per host.",
        )
    own_mib = share_mib - OVERHEAD_MIB - configuration.off_heap_mib
    return configuration.of("regionserver").heap_mib or min(own_mib, most_mib)
