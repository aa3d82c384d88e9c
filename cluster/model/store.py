"""`Store`: what YCSB's rows are kept in, and when a write counts as acknowledged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

StoreName = Literal[
    "hbase", "accumulo", "aerospike", "cassandra", "kudu", "redis", "redis-cluster", "rocksdb"
]
Durability = Literal["memory", "page_cache", "synced"]
STORES: tuple[StoreName, ...] = get_args(StoreName)
LEVELS: tuple[Durability, ...] = get_args(Durability)
DURABILITY_WORDS: Mapping[Durability, str] = {
    "memory": "acknowledged in the memory of the store's processes: lost when they die",
    "page_cache": "acknowledged in a log in the page cache: survives the processes, not the machine",
    "synced": "acknowledged in a log on the device: survives a power failure",
}


@dataclass(frozen=True)
class StoreFacts:
    """title: for people. acknowledged: how each level of durability is rendered; a level that is missing
    does not exist, and `without` says why. on_hadoop: whether it keeps its data in HDFS; then the cluster
    has HDFS, YARN and ZooKeeper. services, master_services: ports of each worker and of the master, beside
    those of Hadoop. workers: the most that it can use; None: any number. embedded: it runs in the client's
    process, so that there is one client. ordered: whether it can scan in the order of keys. compiled: whether
    its servers have JIT compilers, and so are warmed up. java: the feature release that its servers need;
    None: any, or none. given: whether servers that stand already can be measured. built: whether a study can
    build it. caution: what stands beside its numbers in plans and reports."""

    title: str
    acknowledged: Mapping[Durability, str]
    without: str = ""
    on_hadoop: bool = False
    services: tuple[str, ...] = ()
    master_services: tuple[str, ...] = ()
    workers: int | None = None
    embedded: bool = False
    ordered: bool = True
    compiled: bool = False
    java: int | None = None
    given: bool = False
    built: bool = True
    caution: str = ""


_REDIS_LEVELS: Mapping[Durability, str] = {
    "memory": "appendonly no",
    "page_cache": "appendonly yes, appendfsync no: written before the reply",
    "synced": "appendonly yes, appendfsync always: fsync before the reply",
}

FACTS: Mapping[StoreName, StoreFacts] = {
    "hbase": StoreFacts(
        "HBase",
        {
            "memory": "durability=SKIP_WAL of each write",
            "page_cache": "durability=SYNC_WAL of each write: hflush to every DataNode of the pipeline",
            "synced": "durability=FSYNC_WAL of each write: hsync on every DataNode of the pipeline",
        },
        on_hadoop=True,
        compiled=True,
    ),
    "accumulo": StoreFacts(
        "Accumulo",
        {
            "memory": "table.durability=none",
            "page_cache": "table.durability=flush: hflush to every DataNode of the pipeline",
            "synced": "table.durability=sync: hsync on every DataNode of the pipeline",
        },
        on_hadoop=True,
        services=("tserver",),
        master_services=("manager", "gc"),
        compiled=True,
        java=17,
    ),
    "redis": StoreFacts(
        "Redis",
        _REDIS_LEVELS,
        services=("redis",),
        workers=1,
        given=True,
    ),
    "redis-cluster": StoreFacts(
        "Redis Cluster",
        _REDIS_LEVELS,
        services=("redis", "redis.bus"),
        ordered=False,
        given=True,
    ),
    "rocksdb": StoreFacts(
        "RocksDB",
        {
            "memory": "WriteOptions.disableWAL",
            "page_cache": "a write-ahead log without sync",
            "synced": "WriteOptions.sync",
        },
        workers=1,
        embedded=True,
    ),
    "cassandra": StoreFacts(
        "Cassandra",
        {
            "memory": "durable_writes false; writes at consistency ALL, reads at ONE",
            "synced": "commitlog_sync batch: synced on every replica before the reply; writes at "
            "consistency ALL, reads at ONE",
        },
        without="with commitlog_sync periodic, a killed process loses what it acknowledged in its last "
        "100 ms (CASSANDRA-13987), and the other modes sync to the device",
        services=("cassandra", "cassandra.storage", "cassandra.jmx"),
        ordered=False,
        compiled=True,
        java=17,
        given=True,
    ),
    "kudu": StoreFacts(
        "Kudu",
        {
            "page_cache": "log_force_fsync_all=false: in the logs of most replicas before the reply",
            "synced": "log_force_fsync_all=true: synced in the logs of most replicas before the reply",
        },
        without="every write goes through its log, which replicas agree on",
        services=("kudu-tserver.rpc", "kudu-tserver.http"),
        master_services=("kudu-master.rpc", "kudu-master.http"),
        caution="Kudu's servers are a build that its publishers call testing only, never for production: "
        "its numbers are not those of a supported release",
    ),
    "aerospike": StoreFacts(
        "Aerospike",
        {
            "memory": "commit-to-device false: in buffers of the master and all replicas before the reply",
            "synced": "commit-to-device true: on devices of the master and all replicas before the reply",
        },
        without="without commit-to-device, a server keeps acknowledged writes in its own buffers until it "
        "flushes them (flush-max-ms, a second by default)",
        ordered=False,
        given=True,
        built=False,
        caution="Aerospike's binding is untried: no server was available, and it ran only against a "
        "server of its protocol that the tests bring",
    ),
}


@dataclass(frozen=True)
class Store:
    """The store of one cluster."""

    name: StoreName = "hbase"
    durability: Durability = "page_cache"

    @property
    def facts(self) -> StoreFacts:
        return FACTS[self.name]

    @property
    def level(self) -> str:
        """Its name as a level of a factor, and so in names of topologies: redis-page-cache, hbase-synced. The
        durability is in it, so that it stands beside every number."""
        return f"{self.name}-{self.durability.replace('_', '-')}"

    @property
    def words(self) -> str:
        return f"{self.facts.title}, {self.durability.replace('_', ' ')}"

    @property
    def on_hadoop(self) -> bool:
        """Whether the cluster has HDFS, YARN and ZooKeeper; otherwise only the store's own daemons run."""
        return self.facts.on_hadoop

    @property
    def is_hbase(self) -> bool:
        return self.name == "hbase"


HBASE = Store()


def cautions(stores: Iterable[Store]) -> list[str]:
    """What stands beside the numbers of the stores, once each."""
    return list(dict.fromkeys(store.facts.caution for store in stores if store.facts.caution))


def words_of(level: str) -> str:
    """'Redis, page cache' for the level redis-page-cache; other texts as they are."""
    known = {store.level: store.words for store in (Store(n, d) for n in STORES for d in LEVELS)}
    return known.get(level, level)
