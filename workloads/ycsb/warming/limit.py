"""How long a server warm-up may take: from the cluster's servers, cores and drives, and from the data set."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster
from density_study.workloads.ycsb.knobs import REST_ESTIMATE_S
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.warmth import LEAST_SERVED

# Longer than the estimate, which is rough: a limit that ends a warm-up too early spoils the trials behind it.
_LEEWAY = 3.0
# Of a drive with heads; HBase reads a block at once. Flash drives fill a cache sooner than the limit.
_DRIVE_READS_S = 100.0
_BLOCKS_PER_MIB = 16


def limit_s(test_case: YcsbTestCase, cluster: Cluster) -> float:
    """Three times what compilers need on the host with the most servers per core, and what drives of 100
    reads/s need for as many requests as compilers need, and for blocks of 64 KiB in the servers' memory."""
    topology = cluster.topology
    servers = max(
        1, len(cluster.endpoints.all("regionserver.http") or cluster.endpoints.all("store"))
    )
    on_host, cores, memory_mib = dict[str, int](), dict[str, int](), 0
    for node in topology.workers:
        on_host[node.host] = on_host.get(node.host, 0) + max(1, node.regionservers)
        cores[node.host] = cores.get(node.host, 0) + node.cores
        memory_mib += node.memory_mib
    crowded = max((on_host[host] / max(1, cores[host]) for host in on_host), default=1.0)
    drives = max(servers, sum(len(node.disks) for node in topology.workers))
    cached_mib = min(test_case.data_mib, memory_mib or test_case.data_mib)
    reads = LEAST_SERVED[topology.jit] * servers + cached_mib * _BLOCKS_PER_MIB
    return _LEEWAY * (REST_ESTIMATE_S * max(1.0, crowded) + reads / drives / _DRIVE_READS_S)
