"""`Daemon`: one server process of the cluster, with its command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import StackName, classpath_flag, log_flags
from density_study.cluster.render.jvm import (
    FAST_START,
    NETTY,
    SAYS_ITS_CHOICES,
    collector_flag,
    common_flags,
    direct_memory_flags,
    g1_flags,
    heap_flags,
    jit_flags,
    whole_heap_flags,
)
from density_study.cluster.stack.archive import archive_flag

PREPARE = "format"
"""Name of the command that creates the empty filesystem; the NameNode starts after it."""

_MAINS = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    "zookeeper": "org.apache.zookeeper.server.ZooKeeperServerMain",
    "hmaster": "org.apache.hadoop.hbase.master.HMaster",
    "regionserver": "org.apache.hadoop.hbase.regionserver.HRegionServer",
}
_OF_HBASE = ("zookeeper", "hmaster", "regionserver")


@dataclass(frozen=True)
class Daemon:
    """`http` is the address of /jmx ("" for ZooKeeper), `address` that of another store's clients.
    `starts_after` names commands (the format) that must have ended before; daemons otherwise wait for each
    other by themselves."""

    name: str
    node: str
    role: str
    command: Command
    http: str
    log: PurePath
    stdout: PurePath
    stderr: PurePath
    starts_after: tuple[str, ...] = ()
    address: str = ""


def daemons(
    blueprint: Blueprint, beside_hdfs: Iterable[tuple[Node, str, str]]
) -> tuple[Daemon, ...]:
    """All daemons of Hadoop and HBase in starting order: a daemon comes after those that it waits for.
    `beside_hdfs`: (node, kind, name) of HBase's."""
    master, workers = blueprint.topology.master, blueprint.topology.workers
    placed = [
        (master, "zookeeper", "zookeeper"),
        (master, "namenode", "namenode"),
        *((worker, "datanode", "datanode") for worker in workers),
        *beside_hdfs,
        (master, "resourcemanager", "resourcemanager"),
        *((worker, "nodemanager", "nodemanager") for worker in workers),
    ]
    return tuple(
        _daemon(blueprint, node, kind, name, _arguments(blueprint, node, kind, name))
        for node, kind, name in placed
    )


def format_daemon(blueprint: Blueprint) -> Daemon:
    """Not a server: it ends when it has created the NameNode's directory."""
    arguments = ("-format", "-force", "-nonInteractive")
    return _daemon(blueprint, blueprint.topology.master, "namenode", PREPARE, arguments)


def _daemon(
    blueprint: Blueprint, node: Node, kind: str, name: str, arguments: tuple[str, ...]
) -> Daemon:
    places = blueprint.places
    argv = (*_java(blueprint, node, kind, name), _MAINS[kind], *arguments)
    # A NodeManager passes JAVA_HOME on to its containers.
    environment = {"JAVA_HOME": str(blueprint.homes.java), **blueprint.homes.library_path}
    serves_http = kind != "zookeeper" and name != PREPARE
    return Daemon(
        name=name,
        node=node.name,
        role=kind,
        command=Command(name, argv, environment, str(blueprint.data(node))),
        http=blueprint.ports.address(node, f"{name}.http") if serves_http else "",
        log=places.log(node, name, "log"),
        stdout=places.log(node, name, "out"),
        stderr=places.log(node, name, "err"),
        starts_after=(PREPARE,) if name == "namenode" else (),
    )


def _java(blueprint: Blueprint, node: Node, kind: str, name: str) -> tuple[str, ...]:
    places, homes = blueprint.places, blueprint.homes
    conf = places.conf_of(node)
    own = kind == "zookeeper" and homes.zookeeper_classpath
    stack: StackName = "zookeeper" if own else "hbase" if kind in _OF_HBASE else "hadoop"
    home = homes.hbase if stack == "hbase" else homes.hadoop
    configuration, sizing = (
        blueprint.topology.variant.configuration,
        blueprint.topology.variant.sizing,
    )
    heap_mib, jvm = daemon_heaps(node, configuration, sizing)[kind], configuration.of(kind)
    direct_mib = configuration.direct_mib if kind == "regionserver" else 0
    collector = collector_flag(kind, jvm, sizing)
    return (
        f"{homes.java}/bin/java",
        *heap_flags(heap_mib),
        *direct_memory_flags(heap_mib, direct_mib),
        collector,
        *(
            (
                *g1_flags(sizing, collector, jvm.flags),
                *whole_heap_flags(sizing, heap_mib, jvm.flags),
                SAYS_ITS_CHOICES,
            )
            if kind == "regionserver"
            else ()
        ),
        *(
            FAST_START
            if name == PREPARE
            else jit_flags(blueprint.timeout_scale, blueprint.topology.jit)
        ),
        *common_flags(f"{blueprint.data(node)}/tmp"),
        *(NETTY if kind in _OF_HBASE else ()),
        *jvm.flags,
        *(() if own else (archive_flag(home, blueprint.topology.variant.versions.java),)),
        *log_flags(str(conf)),
        f"-Dstudy.log={places.log(node, name, 'log')}",
        classpath_flag(conf, stack),
    )


def _arguments(blueprint: Blueprint, node: Node, kind: str, name: str) -> tuple[str, ...]:
    if kind == "zookeeper":
        return (f"{blueprint.places.conf_of(node)}/zoo.cfg",)
    if kind == "hmaster":
        properties = {
            # The HMaster starts together with HDFS: by default it ends when there is no NameNode yet.
            "dfs.client.retry.policy.enabled": "true",
            "dfs.client.retry.policy.spec": f"{blueprint.beat_ms(200)},500",  # every 200 ms, 500 times
            # How often it checks whether HDFS has left safe mode; 10 s by default.
            "hbase.server.thread.wakefrequency": blueprint.beat_ms(500),
        }
    elif kind == "regionserver":
        # All that differs between the RegionServers of a node.
        properties = {
            "hbase.regionserver.port": str(blueprint.ports.port(node, f"{name}.rpc")),
            "hbase.regionserver.info.port": str(blueprint.ports.port(node, f"{name}.http")),
            **_block_cache(blueprint, node, name),
        }
    else:
        return ()
    defined = (part for key, value in properties.items() for part in ("-D", f"{key}={value}"))
    return (*defined, "start")


def _block_cache(blueprint: Blueprint, node: Node, name: str) -> dict[str, str]:
    """For a RegionServer alone: each has a file of its own, and the HMaster needs no cache."""
    cache = blueprint.topology.variant.configuration.block_cache
    if cache is None:
        return {}
    file = f"{cache.engine}:{blueprint.places.cache_of(node)}/block-cache-{name}"
    return {
        "hbase.bucketcache.ioengine": "offheap" if cache.engine == "offheap" else file,
        "hbase.bucketcache.size": str(cache.size_mib),
    }
