"""Density against its control variant: as many RegionServers on the nodes of the lowest density.

Handlers, compaction throughput, regions and the write-ahead log are per RegionServer, of which a denser
variant has more on each host. Only the control variant tells what the nodes did from what those did.
"""

from __future__ import annotations

from collections.abc import Iterator

from density_study.analysis.findings.factors import pairs
from density_study.analysis.findings.question import Evidence
from density_study.analysis.findings.variants import Pair
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.model.store import default_store, store_at
from density_study.workloads.study.factors.registry import factors, held_equal

DENSITY, SERVERS = "vms_per_host", "regionservers_per_node"
PER_SERVER = (
    "each with its own handlers, compaction throughput, regions, write-ahead log and connections of "
    "clients"
)


def servers_per_host(variant: TestCaseSummary) -> int | None:
    """RegionServers that serve the test case on each host; None if it needs none, or they are not known."""
    density, servers = variant.vms_per_host, variant.regionservers_per_node
    store = store_at(variant.levels.get("store", default_store().level))
    if variant.workload != "ycsb" or store is None or SERVERS not in store.offers:
        return None
    return None if density is None or servers is None else max(1, density) * servers


def more_servers(first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
    """How two variants differ in RegionServers; empty if they do not."""
    counts = servers_per_host(first), servers_per_host(later)
    if None in counts or counts[0] == counts[1]:
        return ()
    return (f"RegionServers per host: {counts[0]} -> {counts[1]}, {PER_SERVER}",)


def more_daemons(first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
    """`more_servers`, and of HDFS and YARN: each node has one DataNode and one NodeManager, in a control
    variant also: they belong to density and are no obstacle."""
    if first.workload != "testdfsio" and servers_per_host(first) is None:
        return ()
    levels = [one.vms_per_host for one in (first, later)]
    nodes = [max(1, level) for level in levels if level is not None]
    if len(nodes) < len(levels) or nodes[0] == nodes[1]:
        return more_servers(first, later)
    words = f"DataNodes and NodeManagers per host: {nodes[0]} -> {nodes[1]}, one of each per node"
    return (*more_servers(first, later), words)


def control_of(evidence: Evidence, pair: Pair) -> TestCaseSummary | None:
    """The test case of the pair's first variant with as many RegionServers per host as its later variant has;
    None without such a variant, or if the first itself has as many."""
    first, later = pair
    equal = tuple(name for name in held_equal(DENSITY) if name != SERVERS)
    if later.regionservers_per_node is None:
        return None
    servers = later.density * later.regionservers_per_node // max(1, first.density)
    return next(
        (
            one
            for one in evidence.test_cases
            if (one.test_case, one.vms_per_host) == (first.test_case, first.vms_per_host)
            and one.regionservers_per_node == servers != first.regionservers_per_node
            and all(one.level(name) == first.level(name) for name in equal)
        ),
        None,
    )


def controlled(evidence: Evidence) -> Iterator[Pair]:
    """The pairs to compare: a control variant and the density that has as many RegionServers."""
    alone = [entry for entry in evidence.test_cases if entry.neighbour is None]
    for pair in pairs(alone, factors()[DENSITY]):
        control = control_of(evidence, pair)
        if control is not None:
            yield control, pair[1]
