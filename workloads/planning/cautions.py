"""What a plan can do, but an expert would not: sizes that spoil a number without breaking a rule. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from density_study.cluster.machine.equality.judgement import in_words
from density_study.cluster.model.memory import regionserver_heaps_mib
from density_study.cluster.model.topology import Topology
from density_study.workloads.planning.plan import Plan
from density_study.workloads.testdfsio.hdfs_policies import maps_at_once
from density_study.workloads.testdfsio.test_case import DfsioTestCase

LARGEST_G1_HEAP_MIB = 64 * 1024
"""Beyond, the pauses of G1 are no longer those of HBase as it is run: hbase.apache.org/book.html#gc and
Cloudera's guides stay at 32 GB and put caches beside the heap."""
SYSTEM_MIB, QEMU_MIB, PAGE_TABLES = 512, 256, 2 * 8 / 4096
"""What a host of VMs needs for itself: its system; a QEMU for each VM; and, of the VMs' memory, tables of 8
bytes for each page of 4 KiB, in QEMU and for the processor's second translation."""
LEAST_USED = 0.75
"""Share of the map slots that a TestDFSIO job uses while it runs."""


def cautions_of(plan: Plan) -> Iterator[str]:
    yield from _small_shares(plan)
    yield from _large_heaps(plan)
    yield from _lonely_maps(plan)
    yield from _small_reserves(plan)


def _small_shares(plan: Plan) -> Iterator[str]:
    shares = {one.variant.sizing.regionserver_percent for one in plan.built}
    if min(shares, default=100.0) < 100:
        yield (
            f"heaps of RegionServers take {min(shares):g}% of each node in every variant, and the page "
            "cache gets the rest: larger ones would be below 32 GiB, where the JVM compresses pointers, in "
            "some variants only. To decide it yourself, write `jvm: {regionserver: {heap: 10% of node}}`, or "
            "`collector: ZGC`, in factors.configuration"
        )


def _large_heaps(plan: Plan) -> Iterator[str]:
    heaps = {one.name: _g1_heap_mib(one) for one in plan.built}
    large = [name for name, mib in heaps.items() if mib > LARGEST_G1_HEAP_MIB]
    if large:
        yield (
            f"{', '.join(large)}: RegionServers have heaps of up to {max(heaps.values()) / 1024:.0f} GiB, "
            "and pauses of G1 grow with them. Give them a share, and a cache beside it, in "
            "factors.configuration: `jvm: {regionserver: {heap: 12% of node}}` and `block_cache: {place: "
            "off-heap, size: 50% of node}`; or write `collector: ZGC`"
        )


def _g1_heap_mib(topology: Topology) -> int:
    """The largest heap of a RegionServer with G1; 0: there is none."""
    jvm = topology.configuration.jvm.get("regionserver")
    if jvm is not None and jvm.collector not in (None, "G1"):
        return 0
    return max(regionserver_heaps_mib(topology).values(), default=0)


def _lonely_maps(plan: Plan) -> Iterator[str]:
    """Jobs whose last maps run with most of the cluster idle: their rate is that of a part of it."""
    found: dict[tuple[str, int, int], dict[str, None]] = {}
    for step in plan.trials:
        test_case, topology = step.test_case, plan.topology_of(step.build)
        if not isinstance(test_case, DfsioTestCase) or not isinstance(topology, Topology):
            continue
        maps = maps_at_once(topology)
        at_once = min(maps, test_case.readers or maps)
        waves = ceil(test_case.files / at_once) if at_once else 1
        if waves > 1 and test_case.files < LEAST_USED * at_once * waves:
            of_job = found.setdefault((test_case.id, test_case.files, at_once), {})
            of_job[topology.name] = None
    for (name, files, at_once), topologies in found.items():
        alone = files % at_once
        yield (
            f"{name} on {', '.join(topologies)}: of {files} maps {at_once} run at once, and the last {alone} "
            f"alone, so that its rate is too low; write `files: {files - alone}`"
        )


def _small_reserves(plan: Plan) -> Iterator[str]:
    """Hosts that VMs leave too little: they swap, or the kernel kills a VM."""
    found: dict[str, int] = {}
    for topology in plan.built:
        for host in topology.hosts if topology.variant.vms_per_host else ():
            here = [node for node in topology.nodes if node.host == host.name]
            tables_mib = PAGE_TABLES * sum(node.memory_mib for node in here)
            need_mib = ceil(SYSTEM_MIB + QEMU_MIB * len(here) + tables_mib)
            if host.vms is not None and host.vms.reserve_mib < need_mib:
                found[host.name] = max(found.get(host.name, 0), need_mib)
    if found:
        need_gib = ceil(max(found.values()) / 1024)
        yield (
            f"vms.host_reserve leaves hosts {in_words([*found])} less than their system, QEMU and page "
            f"tables take; write `host_reserve: {need_gib} GiB`"
        )
