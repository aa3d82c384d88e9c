"""`Daemon`: one server process of the cluster, with its command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from cluster.model.command import Command
from cluster.model.memory import daemon_heaps
from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint
from cluster.render.classpath import StackName, classpath_flag
from cluster.render.hbase import regionserver_ports, starts_with_hdfs
from cluster.render.jvm import (
    FAST_START,
    NETTY,
    collector_flags,
    common_flags,
    heap_flags,
    jit_flags,
)
from cluster.render.logging import log_flags
from cluster.stack.archive import archive_flag

PREPARE = "format"
"""Name of the command that makes the empty filesystem; the NameNode starts after it."""

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
    """`http` is where /jmx answers ("" for ZooKeeper). `starts_after` names what must have ended
    (the format) before it can start; daemons otherwise wait for each other by themselves."""

    name: str
    node: str
    role: str
    command: Command
    http: str
    log: PurePath
    stdout: PurePath
    stderr: PurePath
    starts_after: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return f"{self.name} on {self.node}"


def daemons(blueprint: Blueprint) -> tuple[Daemon, ...]:
    """All of them, in the order in which they are started: what others wait for comes first."""
    topology = blueprint.topology
    master = topology.master
    found = [(master, "zookeeper", "zookeeper"), (master, "namenode", "namenode")]
    found += [(worker, "datanode", "datanode") for worker in topology.workers]
    found += [(master, "hmaster", "hmaster")]
    for worker in topology.workers:
        for index in range(1, worker.regionservers + 1):
            found.append((worker, "regionserver", f"regionserver-{index}"))
    found += [(master, "resourcemanager", "resourcemanager")]
    found += [(worker, "nodemanager", "nodemanager") for worker in topology.workers]
    return tuple(
        _daemon(blueprint, node, kind, name, _arguments(blueprint, node, kind, name))
        for node, kind, name in found
    )


def format_daemon(blueprint: Blueprint) -> Daemon:
    """Not a server: it ends when the NameNode's directory is there."""
    arguments = ("-format", "-force", "-nonInteractive")
    return _daemon(blueprint, blueprint.topology.master, "namenode", PREPARE, arguments)


def _daemon(
    blueprint: Blueprint, node: Node, kind: str, name: str, arguments: tuple[str, ...] = ()
) -> Daemon:
    java = _java(blueprint, node, kind, name)
    argv = (*java, _MAINS[kind], *arguments)
    places = blueprint.places
    serves = kind != "zookeeper" and name != PREPARE
    return Daemon(
        name=name,
        node=node.name,
        role=kind,
        command=Command(name, argv, _environment(blueprint), str(blueprint.data(node))),
        http=blueprint.ports.address(node, f"{name}.http") if serves else "",
        log=places.log(node, name, "log"),
        stdout=places.log(node, name, "out"),
        stderr=places.log(node, name, "err"),
        starts_after=(PREPARE,) if name == "namenode" else (),
    )


def _java(blueprint: Blueprint, node: Node, kind: str, name: str) -> tuple[str, ...]:
    places, homes = blueprint.places, blueprint.homes
    conf = places.conf_of(node)
    stack: StackName = "hbase" if kind in _OF_HBASE else "hadoop"
    home = homes.hbase if stack == "hbase" else homes.hadoop
    return (
        f"{homes.java}/bin/java",
        *heap_flags(daemon_heaps(node)[kind]),
        *collector_flags(kind),
        *(FAST_START if name == PREPARE else jit_flags(blueprint.timeout_scale)),
        *common_flags(f"{blueprint.data(node)}/tmp"),
        *(NETTY if kind in _OF_HBASE else ()),
        archive_flag(home),
        *log_flags(str(conf)),
        f"-Dstudy.log={places.log(node, name, 'log')}",
        classpath_flag(conf, stack),
    )


def _environment(blueprint: Blueprint) -> dict[str, str]:
    """A NodeManager passes JAVA_HOME on to its containers."""
    return {"JAVA_HOME": str(blueprint.homes.java)}


def _arguments(blueprint: Blueprint, node: Node, kind: str, name: str) -> tuple[str, ...]:
    if kind == "zookeeper":
        return (f"{blueprint.places.conf_of(node)}/zoo.cfg",)
    if kind == "hmaster":
        return (*_defined(starts_with_hdfs(blueprint)), "start")
    if kind != "regionserver":
        return ()
    index = int(name.rpartition("-")[2])
    return (*_defined(regionserver_ports(blueprint, node, index)), "start")


def _defined(properties: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(part for key, value in properties.items() for part in ("-D", f"{key}={value}"))
