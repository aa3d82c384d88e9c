"""What two variants use unequally of the same hosts, beyond what density or disk type mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from density_study.cluster.model.dividing.virtio import Virtio, virtio_of
from density_study.cluster.model.memory import COMPRESSED_BELOW_MIB, regionserver_heaps_mib
from density_study.cluster.model.topology import Topology
from density_study.workloads.record.recorded import RecordedTopology


def unequal_hosts(
    first: RecordedTopology | Topology, later: RecordedTopology | Topology
) -> tuple[str, ...]:
    """Words for each: drives, queues and I/O threads of guests, and pointers of the JVMs. Empty if all is
    equal, or nothing is known."""
    if not isinstance(first, Topology) or not isinstance(later, Topology):
        return ()
    return (*_hardware(first, later), *_pointers(first, later))


def moved_along(
    first: RecordedTopology | Topology, later: RecordedTopology | Topology
) -> tuple[str, ...]:
    """What else differs between two variants because a factor does that does not name it: words for a
    finding."""
    if not isinstance(first, Topology) or not isinstance(later, Topology):
        return ()
    return (*_heaps(first, later), *_clients(first, later))


def _heaps(first: Topology, later: Topology) -> Iterator[str]:
    """A cache beside the heap takes its memory from there, and with it that of memstores. Density and
    RegionServers divide a heap by what they are."""
    if _servers(first) == _servers(later):
        heaps = [max(regionserver_heaps_mib(one).values(), default=0) for one in (first, later)]
        if all(heaps) and heaps[0] != heaps[1]:
            yield f"heap of a RegionServer: {heaps[0]} MiB -> {heaps[1]} MiB"


def _clients(first: Topology, later: Topology) -> Iterator[str]:
    """Why the variants' clients differ: those of a bare host run on it as well."""
    kinds = [topology.isolation.facts for topology in (first, later)]
    if kinds[0].own_address != kinds[1].own_address:
        words = " -> ".join(
            f"in a {kind.noun}" if kind.own_address else "on its host" for kind in kinds
        )
        yield f"each client: {words}"


def _servers(topology: Topology) -> set[int]:
    """RegionServers of each host."""
    hosts = [node.host for node in topology.workers for _ in range(node.regionservers)]
    return {hosts.count(host) for host in hosts}


def _hardware(first: Topology, later: Topology) -> Iterator[str]:
    if first.variant.worker_hosts != later.variant.worker_hosts:
        return
    drives = [_drives(topology) for topology in (first, later)]
    alike = first.variant.disk_type == later.variant.disk_type
    if drives[0] != drives[1] if alike else len(drives[0]) != len(drives[1]):
        yield f"{len(drives[0])} and {len(drives[1])} drives of the hosts"
    if first.isolation.facts.own_kernel and later.isolation.facts.own_kernel:
        for words, of in _PARALLEL.items():
            a, b = (_sum(topology, of) for topology in (first, later))
            if a != b:
                yield f"{a} and {b} {words}"


def _pointers(first: Topology, later: Topology) -> Iterator[str]:
    """Hosts may be unequal: one on which both heaps are large says nothing about a smaller one."""
    if any(
        one.variant.configuration.of("regionserver").collector == "ZGC" for one in (first, later)
    ):
        return  # it compresses none
    heaps, others = regionserver_heaps_mib(first), regionserver_heaps_mib(later)
    for host in [name for name in heaps if name in others]:
        mib = heaps[host], others[host]
        if len({heap < COMPRESSED_BELOW_MIB for heap in mib}) > 1:
            yield (
                f"RegionServer heaps of {mib[0] / 1024:.0f} and {mib[1] / 1024:.0f} GiB: only one is below "
                "32 GiB, where the JVM compresses pointers"
            )
            return


def _drives(topology: Topology) -> set[tuple[str, str]]:
    """The drives that hold the data of workers."""
    used = topology.store.drives
    return {(node.host, disk.path) for node in topology.workers for disk in node.disks[:used]}


_PARALLEL: dict[str, Callable[[Virtio, int], int]] = {
    "queues of the guests' network cards": lambda own, _: own.network_queues,
    "queues of the guests' data disks": lambda own, disks: own.disk_queues * disks,
    "I/O threads of the guests": lambda own, _: own.io_threads,
}


def _sum(topology: Topology, of: Callable[[Virtio, int], int]) -> int:
    """Over the workers of all hosts, which are the same in both variants."""
    return sum(of(virtio_of(topology, node), len(node.disks)) for node in topology.workers)
