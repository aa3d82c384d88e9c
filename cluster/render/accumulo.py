"""Files and command lines of Accumulo's daemons, which run on the cluster's own HDFS and ZooKeeper. Pure."""

from __future__ import annotations

from dataclasses import replace

from density_study.cluster.model.memory import ACCUMULO_GC_HEAP_MIB, daemon_heaps
from density_study.cluster.model.topology import Node
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import (
    CLASSPATH_SUFFIX,
    classpath_text,
    log_flags,
    text_file,
)
from density_study.cluster.render.jvm import FAST_START, common_flags, heap_flags

INSTANCE = "study"
PASSWORD = "study"
"""Of user root. It protects nothing: a throw-away cluster, on loopback, in containers or on hosts."""
INIT = "accumulo-init"
"""Name of the command that creates the instance, in HDFS and ZooKeeper; the daemons start after it."""
INIT_HEAP_MIB = 128
_PROPERTIES = "accumulo.properties"
_MAINS = {
    INIT: "org.apache.accumulo.server.init.Initialize",
    "manager": "org.apache.accumulo.manager.Manager",
    "gc": "org.apache.accumulo.gc.SimpleGarbageCollector",
    "tserver": "org.apache.accumulo.tserver.TabletServer",
}


def tserver_heap_mib(node: Node) -> int:
    """That of the RegionServer which the node would have with HBase."""
    return daemon_heaps(replace(node, regionservers=1))["regionserver"]


def accumulo_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    """Beside those of Hadoop, in the node's folder."""
    topology, ports = blueprint.topology, blueprint.ports
    values = {
        "volume": f"hdfs://{ports.address(topology.master, 'namenode.rpc')}/accumulo",
        "zookeeper": ports.address(topology.master, "zookeeper.client"),
        "node": node,
        "is_master": "master" in node.roles,
        "port": ports.port,
        "workers": len(topology.workers),
    }
    # The folder is last: HDFS's client reads core-site.xml and hdfs-site.xml there.
    path = (*blueprint.homes.store_classpath, str(blueprint.places.conf_of(node)))
    return {
        _PROPERTIES: text_file(_PROPERTIES, values),
        f"accumulo{CLASSPATH_SUFFIX}": classpath_text(path),
    }


def accumulo_argv(blueprint: Blueprint, node: Node, name: str) -> tuple[str, ...]:
    conf = blueprint.places.conf_of(node)
    return (
        f"{blueprint.homes.java}/bin/java",
        *heap_flags(_heap_mib(node, name)),
        "-XX:+UseG1GC" if name == "tserver" else "-XX:+UseSerialGC",
        *(FAST_START if name == INIT else ()),
        *common_flags(f"{blueprint.data(node)}/tmp"),
        *log_flags(str(conf)),
        f"-Dstudy.log={blueprint.places.log(node, name, 'log')}",
        f"-Daccumulo.properties=file://{conf}/{_PROPERTIES}",
        f"@{conf}/accumulo{CLASSPATH_SUFFIX}",
        _MAINS[name],
        *(("--instance-name", INSTANCE, "--password", PASSWORD) if name == INIT else ()),
    )


def _heap_mib(node: Node, name: str) -> int:
    if name == "tserver":
        return tserver_heap_mib(node)
    if name == "manager":
        return daemon_heaps(node)["hmaster"]
    return INIT_HEAP_MIB if name == INIT else ACCUMULO_GC_HEAP_MIB
