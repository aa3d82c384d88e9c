"""`Configuration`: properties, JVMs and block cache, where a variant of a study sets them itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Site = Literal["core-site", "hdfs-site", "yarn-site", "mapred-site", "hbase-site"]
DaemonKind = Literal[
    "namenode", "datanode", "resourcemanager", "nodemanager", "zookeeper", "hmaster", "regionserver"
]
Collector = Literal["G1", "ZGC", "Parallel", "Serial", "Shenandoah"]
CachePlace = Literal["off-heap", "flash", "hdd", "pmem"]
Engine = Literal["heap", "offheap", "file", "mmap", "pmem"]
"""HBase's names of what holds a block cache (hbase.bucketcache.ioengine); heap: there is no such cache."""
HDFS_PMEM = "hdfs_pmem"
"""The project's name of HDFS's cache in persistent memory, beside those."""
SITES: tuple[Site, ...] = get_args(Site)
DAEMON_KINDS: tuple[DaemonKind, ...] = get_args(DaemonKind)
OFF_HEAP_MEMSTORE = "hbase.regionserver.offheap.global.memstore.size"
"""MiB of each RegionServer, outside its heap."""


@dataclass(frozen=True)
class Jvm:
    """The JVM of one kind of daemon. None: the project's own heap size or collector."""

    heap_mib: int | None = None
    collector: Collector | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockCache:
    """Each RegionServer's cache of data blocks: in memory beyond its heap, or a file on a disk type.

    `pmem`: a file in memory of the host, which stands in for persistent memory. `mapped`: a file on a disk
    type that is mapped into memory.
    """

    place: CachePlace
    size_mib: int
    mapped: bool = False

    @property
    def engine(self) -> Engine:
        if self.place == "off-heap":
            return "offheap"
        if self.place == "pmem":
            return "pmem"
        return "mmap" if self.mapped else "file"

    @property
    def words(self) -> str:
        """off-heap, 512 MiB; flash, 1024 MiB; flash (mapped), 1024 MiB; pmem (emulated), 256 MiB."""
        more = " (mapped)" * self.mapped + " (emulated)" * (self.place == "pmem")
        return f"{self.place}{more}, {self.size_mib} MiB"


@dataclass(frozen=True)
class Configuration:
    """`properties`: by site file. Values are texts, as in XML. `jvm`: by kind of daemon.

    Without `block_cache`, blocks are cached on the RegionServer's heap. `hdfs_cache_mib`: of each DataNode,
    in memory of the host that stands in for persistent memory; 0: HDFS has no cache.
    """

    properties: Mapping[Site, Mapping[str, str]] = field(default_factory=dict, hash=False)
    jvm: Mapping[DaemonKind, Jvm] = field(default_factory=dict, hash=False)
    block_cache: BlockCache | None = None
    hdfs_cache_mib: int = 0

    def of(self, kind: str) -> Jvm:
        return next((jvm for name, jvm in self.jvm.items() if name == kind), Jvm())

    @property
    def engine(self) -> Engine:
        """Where each RegionServer caches data blocks."""
        return self.block_cache.engine if self.block_cache else "heap"

    @property
    def off_heap_mib(self) -> int:
        """Memory that each RegionServer takes beyond its heap and a JVM's usual overhead."""
        cache = self.block_cache
        return self.direct_mib + (cache.size_mib if cache and cache.place == "pmem" else 0)

    @property
    def direct_mib(self) -> int:
        """The part of it that the JVM counts as direct buffers; a file in memory is not."""
        cache = self.block_cache
        cache_mib = cache.size_mib if cache and cache.place == "off-heap" else 0
        memstore = self.properties.get("hbase-site", {}).get(OFF_HEAP_MEMSTORE, "0")
        return cache_mib + int(memstore)

    def declared(self) -> Iterator[tuple[str, str]]:
        """(dotted key, value) of all that is set, for people and for comparisons."""
        for site, properties in self.properties.items():
            yield from ((f"{site}.{name}", value) for name, value in properties.items())
        for kind, jvm in self.jvm.items():
            if jvm.heap_mib is not None:
                yield f"jvm.{kind}.heap", f"{jvm.heap_mib} MiB"
            if jvm.collector is not None:
                yield f"jvm.{kind}.collector", jvm.collector
            if jvm.flags:
                yield f"jvm.{kind}.flags", " ".join(jvm.flags)
        if self.block_cache is not None:
            yield "block_cache", self.block_cache.words
        if self.hdfs_cache_mib:
            yield "hdfs_cache", f"pmem (emulated), {self.hdfs_cache_mib} MiB"


PLAIN = Configuration()
"""Nothing is set: the cluster is configured as this project does it."""
