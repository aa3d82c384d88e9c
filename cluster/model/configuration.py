"""`Configuration`: properties, JVMs and block cache, where a variant of a study sets them itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

Site = Literal["core-site", "hdfs-site", "yarn-site", "mapred-site", "hbase-site"]
DaemonKind = Literal[
    "namenode", "datanode", "resourcemanager", "nodemanager", "zookeeper", "hmaster", "regionserver"
]
Collector = Literal["G1", "ZGC", "Parallel", "Serial", "Shenandoah"]
CachePlace = Literal["off-heap", "flash", "hdd", "pmem"]
Compression = Literal["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"]
BUILT_IN: tuple[Compression, ...] = ("NONE", "GZ", "SNAPPY")
"""Those in jars that hbase-server of Maven Central brings, as HBase's CompressionTest says."""
Encoding = Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"]
Bloom = Literal["NONE", "ROW", "ROWCOL"]
Engine = Literal["heap", "offheap", "file", "mmap", "pmem"]
"""HBase's names of what holds a block cache (hbase.bucketcache.ioengine); heap: there is no such cache."""
HDFS_PMEM = "hdfs_pmem"
"""The project's name of HDFS's cache in persistent memory, beside those."""
SITES: tuple[Site, ...] = get_args(Site)
DAEMON_KINDS: tuple[DaemonKind, ...] = get_args(DaemonKind)
OFF_HEAP_MEMSTORE = "hbase.regionserver.offheap.global.memstore.size"
"""MiB of each RegionServer, outside its heap."""


def share_words(percent: float) -> str:
    """60% of node: as a study writes it."""
    return f"{percent:g}% of node"


@dataclass(frozen=True)
class Jvm:
    """The JVM of one kind of daemon. None: the project's own heap size or collector.

    `heap_percent`: share of the node's memory, for the heaps of its RegionServers together. Placement then
    sets `heap_mib`.
    """

    heap_mib: int | None = None
    collector: Collector | None = None
    flags: tuple[str, ...] = ()
    heap_percent: float | None = None


@dataclass(frozen=True)
class BlockCache:
    """Each RegionServer's cache of data blocks: in memory beyond its heap, or a file on a disk type.

    `pmem`: a file in memory of the host, which stands in for persistent memory. `mapped`: a file on a disk
    type that is mapped into memory. `percent`: share of the node's memory, for all caches of its
    RegionServers together. Placement then sets `size_mib`, which is 0 before.
    """

    place: CachePlace
    size_mib: int
    mapped: bool = False
    percent: float | None = None

    @property
    def engine(self) -> Engine:
        if self.place == "off-heap":
            return "offheap"
        if self.place == "pmem":
            return "pmem"
        return "mmap" if self.mapped else "file"

    @property
    def words(self) -> str:
        """off-heap, 512 MiB; off-heap, 60% of node; flash (mapped), 1024 MiB; pmem (emulated), 256 MiB."""
        more = " (mapped)" * self.mapped + " (emulated)" * (self.place == "pmem")
        size = f"{self.size_mib} MiB" if self.percent is None else share_words(self.percent)
        return f"{self.place}{more}, {size}"


@dataclass(frozen=True)
class TableAttributes:
    """Attributes of the column family of YCSB's table, in HBase's words. The defaults are HBase's.

    `block_bytes`: size of a data block before compression. `prefetch`: blocks are cached when a region opens.
    """

    compression: Compression = "NONE"
    encoding: Encoding = "NONE"
    bloom: Bloom = "ROW"
    block_bytes: int = 65536
    prefetch: bool = False

    def declared(self) -> Iterator[tuple[str, str]]:
        """(key, value) of what is not HBase's default."""
        for one in fields(self):
            value = getattr(self, one.name)
            if value != one.default:
                yield one.name, str(value).lower() if isinstance(value, bool) else str(value)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of TableTool's `create`."""
        names = {"block_bytes": "block-size"}
        return tuple(
            word for key, value in self.declared() for word in (f"--{names.get(key, key)}", value)
        )


@dataclass(frozen=True)
class Configuration:
    """`properties`: by site file. Values are texts, as in XML. `jvm`: by kind of daemon.

    Without `block_cache`, blocks are cached on the RegionServer's heap. `hdfs_cache_mib`: that of each
    DataNode, in memory of the host that stands in for persistent memory; 0: HDFS has no cache.
    """

    properties: Mapping[Site, Mapping[str, str]] = field(default_factory=dict, hash=False)
    jvm: Mapping[DaemonKind, Jvm] = field(default_factory=dict, hash=False)
    block_cache: BlockCache | None = None
    hdfs_cache_mib: int = 0
    table: TableAttributes = field(default_factory=TableAttributes)

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

    @property
    def node_percent(self) -> float:
        """What RegionServers together take of a node by shares; 0: all is in MiB."""
        cache = self.block_cache
        return (self.of("regionserver").heap_percent or 0) + ((cache and cache.percent) or 0)

    def on_node(self, memory_mib: int, regionservers: int) -> Configuration:
        """The same for nodes with this memory and number of RegionServers: each share as an amount."""

        def each_mib(percent: float) -> int:
            return int(memory_mib * percent / 100) // regionservers

        jvm, cache = dict(self.jvm), self.block_cache
        server = self.of("regionserver")
        if server.heap_percent is not None:
            jvm["regionserver"] = replace(server, heap_mib=each_mib(server.heap_percent))
        if cache and cache.percent is not None:
            cache = replace(cache, size_mib=each_mib(cache.percent))
        return replace(self, jvm=jvm, block_cache=cache)

    def declared(self) -> Iterator[tuple[str, str]]:
        """(dotted key, value) of all that is set, for people and for comparisons. A share is the same at
        every density."""
        for site, properties in self.properties.items():
            yield from ((f"{site}.{name}", value) for name, value in properties.items())
        for kind, jvm in self.jvm.items():
            if jvm.heap_percent is not None:
                yield f"jvm.{kind}.heap", share_words(jvm.heap_percent)
            elif jvm.heap_mib is not None:
                yield f"jvm.{kind}.heap", f"{jvm.heap_mib} MiB"
            if jvm.collector is not None:
                yield f"jvm.{kind}.collector", jvm.collector
            if jvm.flags:
                yield f"jvm.{kind}.flags", " ".join(jvm.flags)
        if self.block_cache is not None:
            yield "block_cache", self.block_cache.words
        if self.hdfs_cache_mib:
            yield "hdfs_cache", f"pmem (emulated), {self.hdfs_cache_mib} MiB"
        yield from ((f"table.{key}", value) for key, value in self.table.declared())


PLAIN = Configuration()
"""Nothing is set: the cluster is configured as this project does it."""
