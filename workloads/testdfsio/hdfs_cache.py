"""HDFS's cache in persistent memory: filled with a data set before its read, and proved by the DataNodes.

A pool has a limit for all DataNodes together, and HDFS caches whole files below it, in the order of their
names. The limit is that of the files with which no DataNode holds more than its variant declares.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.clients.daemon_pages import datanode_counters
from density_study.cluster.clients.hdfs import Block
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.configuration import HDFS_PMEM
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MIB
from density_study.cluster.model.topology import Topology
from density_study.cluster.stores.answers import Fetch
from density_study.workloads.base.client_run import require_success, run_client, tail
from density_study.workloads.base.values import CacheUse
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.testdfsio.data import DataSet

_MAIN = "org.apache.hadoop.hdfs.tools.CacheAdmin"
_POOL = "study"
_NO_POOL = f"non-existent cache pool {_POOL}"
_COMMAND_TIMEOUT_S = 120.0
_TIMEOUT_S = 60.0
_SLOWEST_MIB_S = 10.0
_POLL_S = 0.5
_COUNTERS = {
    "capacity_bytes": "CacheCapacity",
    "cached_bytes": "CacheUsed",
    "cached_blocks": "NumBlocksCached",
    "failed_blocks": "NumBlocksFailedToCache",
    "served_bytes": "BytesRead",
}
_MOST_OF_IT = 0.9
Reading = Mapping[str, Mapping[str, int]]
"""DataNode -> what it says now."""


@dataclass(frozen=True)
class Fitting:
    """The files that the cache holds, and their replicas on all DataNodes."""

    files: int
    bytes: int
    replicas: int


def fitting(files: Sequence[Sequence[Block]], size_mib: int) -> Fitting:
    """As many of the files, from the first one on, as no DataNode needs more than `size_mib` for."""
    held: Counter[str] = Counter()
    count = replicas = 0
    for blocks in files:
        more = held.copy()
        for block in blocks:
            more.update(dict.fromkeys(block.datanodes, block.size_bytes))
        if max(more.values(), default=0) > size_mib * MIB:
            break
        held, count = more, count + 1
        replicas += sum(len(block.datanodes) for block in blocks)
    return Fitting(count, held.total(), replicas)


def fill(context: TrialContext, data: DataSet, whole: bool) -> Reading:
    """Have the files cached, all of them where `whole`; what the DataNodes say then. StudyError if they
    cannot be."""
    topology, files = context.cluster.built, list(data.blocks().values())
    size_mib = topology.variant.configuration.hdfs_cache_mib
    for name, one in read_datanodes(context.cluster).items():
        if one["capacity_bytes"] < size_mib * MIB:
            raise StudyError(
                f"{name} has {one['capacity_bytes'] // MIB} MiB of persistent memory, not {size_mib}.",
                f"tier {HDFS_PMEM} of {topology.name}",
                "read its log for `pmem`; Hadoop has such a cache since 3.3.",
            )
    fits = fitting(files, size_mib)
    if fits.files < (len(files) if whole else 1):
        raise StudyError(
            f"{fits.files} of {len(files)} files fit into {size_mib} MiB on each DataNode, where HDFS caches "
            "whole files.",
            f"tier {HDFS_PMEM} of {topology.name}",
            "make the tier larger, or the files smaller or fewer.",
        )
    _admin(context, "addPool", _POOL, "-limit", str(fits.bytes))
    # -force: the directive is about all files, which may be more than the pool's limit
    where = ("-path", data.folder, "-pool", _POOL, "-replication", str(topology.replication))
    _admin(context, "addDirective", *where, "-force")
    return _until_cached(context, fits.bytes, fits.replicas)


def empty(context: TrialContext) -> None:
    """Have nothing cached, whatever an earlier trial left. StudyError if it stays."""
    _admin(context, "removePool", _POOL, unless=_NO_POOL)
    _until_cached(context, 0, 0)


def read_datanodes(cluster: Cluster, fetch: Fetch | None = None) -> Reading:
    """StudyError if one does not answer."""
    return datanode_counters(cluster, "*", _COUNTERS, fetch)


def cached_share(reading: Reading, stored_bytes: int, replication: int) -> float:
    """The part of the data set that is cached."""
    return _total(reading, "cached_bytes") / max(1, stored_bytes * replication)


def cache_use(
    topology: Topology, before: Reading, after: Reading, asked_bytes: int, read_bytes: int
) -> CacheUse:
    """What the cache did between two readings, in which clients requested `asked_bytes` and disks read
    `read_bytes`. DataNodes do not count hits: what they served and no disk read is from the cache."""
    served = _total(after, "served_bytes") - _total(before, "served_bytes")
    hits = max(0, asked_bytes - read_bytes) if served >= _MOST_OF_IT * asked_bytes else 0
    size_mib = topology.variant.configuration.hdfs_cache_mib
    return CacheUse(
        declared=HDFS_PMEM,
        engines={name: _engine(before[name], now, size_mib) for name, now in after.items()},
        l2_hits=hits,
        l2_misses=read_bytes,
        size_mib=size_mib,
        used_mib=round(_total(after, "cached_bytes") / MIB, 1),
    )


def _engine(before: Mapping[str, int], after: Mapping[str, int], size_mib: int) -> str:
    """With a remark if the DataNode has less than the variant declares, holds more, or has dropped blocks."""
    if after["capacity_bytes"] < size_mib * MIB:
        return f"{HDFS_PMEM} with {after['capacity_bytes'] // MIB} MiB"
    held_mib = after["cached_bytes"] / MIB
    if held_mib > size_mib or after["cached_blocks"] < before["cached_blocks"]:
        return f"{HDFS_PMEM} that holds {held_mib:.0f} MiB"
    return HDFS_PMEM


def _until_cached(context: TrialContext, bytes_: int, replicas: int) -> Reading:
    """Bytes are counted when caching begins, replicas when it ends."""
    limit_s = (_TIMEOUT_S + bytes_ / MIB / _SLOWEST_MIB_S) * context.timeout_scale
    deadline = time.monotonic() + limit_s
    while True:
        seen = read_datanodes(context.cluster)
        cached = _total(seen, "cached_bytes"), _total(seen, "cached_blocks")
        if cached == (bytes_, replicas):
            return seen
        if time.monotonic() > deadline:
            raise StudyError(
                f"after {limit_s:.0f} s HDFS's cache holds {cached[0]:,} bytes in {cached[1]} blocks, not "
                f"{bytes_:,} bytes in {replicas}; its DataNodes have room for "
                f"{_total(seen, 'capacity_bytes'):,} bytes, and failed to cache "
                f"{_total(seen, 'failed_blocks')} blocks.",
                f"tier {HDFS_PMEM} of {context.cluster.topology.name}",
                "read the DataNodes' logs for `cache`.",
            )
        time.sleep(_POLL_S)


def _total(reading: Reading, what: str) -> int:
    return sum(one[what] for one in reading.values())


def _admin(context: TrialContext, verb: str, *arguments: str, unless: str = "") -> None:
    """Run HDFS's own tool on the client's node. StudyError if it fails, `unless` it says this."""
    command = hadoop_command(context.cluster, f"cacheadmin-{verb}", _MAIN, (f"-{verb}", *arguments))
    run = run_client(context, command, _COMMAND_TIMEOUT_S, folder="logs")
    if not unless or unless not in tail(context, run):
        require_success(context, run, f"cacheadmin -{verb}")
