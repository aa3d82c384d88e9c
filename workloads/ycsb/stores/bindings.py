"""`Binding`: how YCSB's clients use each store: a class of DB, a class path, and properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import Durability, StoreName
from density_study.cluster.providers.existing.endpoint_tool import endpoint_properties
from density_study.cluster.providers.provider import node_paths, remote_path
from density_study.cluster.render.accumulo import INSTANCE, PASSWORD
from density_study.cluster.render.cassandra import KEYSPACE, jmx_host
from density_study.cluster.stack.store_software import CLIENTS, kudu_home
from density_study.workloads.ycsb.properties import DB

ROCKSDB_BUFFERS_MIB = 128
ROCKSDB_OVERHEAD_MIB = 64
"""Iterators, table readers and threads, beyond cache and write buffers."""
_HBASE_WRITES: Mapping[Durability, str] = {
    "memory": "SKIP_WAL",
    "page_cache": "",  # the table's own, which is SYNC_WAL
    "synced": "FSYNC_WAL",
}
_ACCUMULO_TABLES: Mapping[Durability, str] = {
    "memory": "none",
    "page_cache": "flush",
    "synced": "sync",
}
"""table.durability. Its fourth level, log, leaves writes in the tablet server: no more than none."""


@dataclass(frozen=True)
class Binding:
    """`db`: YCSB's DB. `stack`: whose jars it needs. `properties`: of one cluster's clients."""

    db: str
    stack: str
    properties: Callable[[Cluster], Mapping[str, str]]


def binding_of(cluster: Cluster) -> Binding:
    topology = cluster.topology
    binding = _BINDINGS[topology.store.name]
    if topology.given is not None and topology.given.endpoint is not None:
        return replace(binding, properties=_of_endpoint)
    return binding


def _of_endpoint(cluster: Cluster) -> Mapping[str, str]:
    return endpoint_properties(cluster.topology)


def _hbase(cluster: Cluster) -> Mapping[str, str]:
    level = _HBASE_WRITES[cluster.topology.store.durability]
    return {"durability": level} if level else {}


def _redis(cluster: Cluster) -> Mapping[str, str]:
    """One address, or those of all shards."""
    return {"redis.address": ",".join(cluster.endpoints.store.values())}


def _rocksdb(cluster: Cluster) -> Mapping[str, str]:
    """On the worker's disk, with the worker's memory, although it runs in the client."""
    (worker,) = cluster.topology.workers
    folder = node_paths(cluster.site, cluster.topology).data[worker.name]
    cache_mib = worker.memory_mib - ROCKSDB_BUFFERS_MIB - ROCKSDB_OVERHEAD_MIB
    return {
        "rocksdb.path": f"{folder}/rocksdb",
        "rocksdb.cache.mib": str(cache_mib),
        "rocksdb.buffers.mib": str(ROCKSDB_BUFFERS_MIB),
        "durability": cluster.topology.store.durability,
    }


def _cassandra(cluster: Cluster) -> Mapping[str, str]:
    """Clients of the data use the nodes' addresses of CQL; the tool that settles tables needs JMX, too."""
    topology = cluster.topology
    ports = allocate_ports(topology)
    jmx = (
        f"{jmx_host(topology, node)}:{ports.port(node, 'cassandra.jmx')}"
        for node in topology.workers
    )
    return {
        "cassandra.nodes": ",".join(ports.address(node, "cassandra") for node in topology.workers),
        "cassandra.jmx": ",".join(jmx),
        "cassandra.keyspace": KEYSPACE,
        "cassandra.replication": str(topology.replication),
        "durability": topology.store.durability,
    }


def _accumulo(cluster: Cluster) -> Mapping[str, str]:
    """Clients find tablets by ZooKeeper. What follows the password is for StoreTool."""
    topology = cluster.topology
    return {
        "accumulo.zookeepers": cluster.endpoints.zookeeper,
        "accumulo.instance": INSTANCE,
        "accumulo.password": PASSWORD,
        "accumulo.tservers": str(len(topology.workers)),
        "accumulo.durability": _ACCUMULO_TABLES[topology.store.durability],
    }


def _kudu(cluster: Cluster) -> Mapping[str, str]:
    """Clients of the data need the master alone, which names the tablet servers. The tool that settles tables
    asks their pages, and has `kudu` set a flag."""
    topology = cluster.topology
    ports, home = allocate_ports(topology), remote_path(topology, kudu_home())
    workers = topology.workers
    return {
        "kudu.masters": ports.address(topology.master, "kudu-master.rpc"),
        "kudu.servers": ",".join(ports.address(one, "kudu-tserver.rpc") for one in workers),
        "kudu.pages": ",".join(ports.address(one, "kudu-tserver.http") for one in workers),
        "kudu.home": home,
        "kudu.replication": str(topology.replication),
    }


_BINDINGS: Mapping[StoreName, Binding] = {
    "hbase": Binding(DB, "ycsb", _hbase),
    "redis": Binding("org.densitystudy.stores.redis.RedisClient", CLIENTS, _redis),
    "redis-cluster": Binding("org.densitystudy.stores.redis.RedisClusterClient", CLIENTS, _redis),
    "rocksdb": Binding("org.densitystudy.stores.rocksdb.RocksDbClient", CLIENTS, _rocksdb),
    "accumulo": Binding("org.densitystudy.stores.accumulo.AccumuloDb", CLIENTS, _accumulo),
    "cassandra": Binding("org.densitystudy.stores.cassandra.CassandraClient", CLIENTS, _cassandra),
    "aerospike": Binding("org.densitystudy.stores.aerospike.AerospikeRows", CLIENTS, _of_endpoint),
    "kudu": Binding("org.densitystudy.stores.kudu.KuduRows", CLIENTS, _kudu),
}
