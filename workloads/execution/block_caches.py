"""What the RegionServers' block caches did during a trial: two readings of their own counters (/jmx).

They show how warm the caches were, and prove that a trial used the tier that its variant declares. Then the
engine is what the server runs with (/conf), and for engines that allocate all their memory at the start also
that the JVM has it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from density_study.cluster.clients.daemon_pages import NO_ANSWER, fetch_page
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.host import MIB
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.providers.existing.web import url_of
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answers import Fetch
from density_study.workloads.base.values import CacheUse
from density_study.workloads.ycsb.warming.servers import SERVER

_POOLS = "java.nio:type=BufferPool,name=*"
_ENGINE = "hbase.bucketcache.ioengine"
_COUNTERS = {
    "l1_hits": "l1CacheHitCount",
    "l1_misses": "l1CacheMissCount",
    "l2_hits": "l2CacheHitCount",
    "l2_misses": "l2CacheMissCount",
    "evictions": "blockCacheEvictionCount",
}
_COUNTS_OF_A_MISS = 2
"""Misses that HBase counts for one. With a cache beside the heap, HBase 2.5.13 and 2.6.4 look for a block
before they take its lock and again after it, and count a miss each time:
CombinedBlockCache.updateBlockMetrics is not told that the second look repeats the first (since HBASE-28189).
Without such a cache, and for hits, each is counted once. The evictions of a full cache are half of these
misses: each miss puts a block in, and another one out."""
_POOL_OF = {"offheap": "direct", "mmap": "mapped", "pmem": "mapped"}
_LOOKS, _BETWEEN_LOOKS_S = 8, 0.25


@dataclass(frozen=True)
class CachesReading:
    """By RegionServer: its counters, which only grow until it restarts, and what it holds blocks in."""

    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)
    used_mib: float = 0.0
    faults: tuple[str, ...] = ()


def has_tier(topology: AnyTopology) -> bool:
    """Whether the variant declares where its RegionServers cache blocks."""
    return "tier" in topology.levels or topology.configuration.block_cache is not None


def read_caches(cluster: Cluster, fetch: Fetch | None = None) -> CachesReading:
    """The counters now, and with a tier the engines. A server that does not answer is missing, and its fault
    is kept."""
    ask = fetch or partial(fetch_page, cluster.endpoints)
    cache, tier = cluster.topology.configuration.block_cache, has_tier(cluster.topology)
    counters, engines, used_mib, faults = {}, {}, 0.0, []
    for name, address in cluster.endpoints.all("regionserver.http").items():
        try:
            url = url_of(address)
            server = _server(ask, url)
            counters[name] = {ours: int(server[its]) for ours, its in _COUNTERS.items()}
            if tier:
                pools = ask(f"{url}/jmx?qry={_POOLS}")["beans"]
                conf = ask(f"{url}/conf?format=json")["properties"]
                # before the size: which engine it is decides about the trial
                engines[name] = _engine(conf, pools, cache.size_mib if cache else 0)
            used_mib += int(server["l2CacheSize" if cache else "l1CacheSize"]) / MIB
        except NO_ANSWER as error:
            faults.append(f"{name} does not show its block cache: {why_unread(error)}")
    return CachesReading(counters, engines, used_mib, tuple(faults))


def _server(ask: Fetch, url: str) -> Mapping[str, Any]:
    """The bean with the counters. After regions were opened or closed, HBase stops its metrics for half a
    second (JmxCacheBuster), and has none meanwhile."""
    for look in range(_LOOKS):
        if look:
            time.sleep(_BETWEEN_LOOKS_S)
        if beans := ask(f"{url}/jmx?qry={SERVER}")["beans"]:
            (server,) = beans
            return dict(server)
    raise LookupError(f"no {SERVER} after {_LOOKS} looks")


def caches_between(cluster: Cluster, before: CachesReading, after: CachesReading) -> CacheUse:
    """What the caches did between two readings, summed over the servers. A number is None if a server did not
    report it, or restarted."""
    names = cluster.endpoints.all("regionserver.http")
    growth = [
        {key: count - before.counters[name][key] for key, count in after.counters[name].items()}
        for name in names
        if name in before.counters and name in after.counters
    ]
    whole = len(growth) == len(names) and all(by >= 0 for one in growth for by in one.values())
    sums = {key: sum(one[key] for one in growth) for key in _COUNTERS} if whole else {}
    tier = has_tier(cluster.topology)
    cache = cluster.topology.configuration.block_cache
    if cache and sums:
        sums["l2_misses"] = -(-sums["l2_misses"] // _COUNTS_OF_A_MISS)
    return CacheUse(
        declared=cluster.topology.configuration.engine if tier else None,
        engines={name: after.engines.get(name) for name in names} if tier else {},
        size_mib=cache.size_mib if cache else None,
        used_mib=None if after.faults else round(after.used_mib, 1),
        faults=(*before.faults, *after.faults),
        **sums,
    )


def _engine(conf: list[Mapping[str, str]], pools: list[Mapping[str, object]], mib: int) -> str:
    """`heap` without a cache beside it. For an engine that takes all its memory at once: with a remark if the
    JVM has less than the `mib` that the variant declares."""
    values = (str(one["value"]) for one in conf if one["key"] == _ENGINE)
    engine = next(values, "").partition(":")[0] or "heap"
    if pool := _POOL_OF.get(engine):
        held = next(int(str(one["TotalCapacity"])) for one in pools if one["Name"] == pool)
        if held < mib * MIB:
            return f"{engine} with {held // MIB} MiB"
    return engine
