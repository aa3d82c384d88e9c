"""Accumulo: a manager and a gc on the master, a tablet server on each worker, on HDFS and ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.store import Durability, StoreStack
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import (
    CLASSPATH_SUFFIX,
    classpath_text,
    log_flags,
    text_file,
)
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.jvm import FAST_START, common_flags, heap_flags
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware, jars_of
from density_study.cluster.stores.answers import Seen, answered
from density_study.cluster.stores.hadoop import HadoopStore
from density_study.cluster.stores.store import Part, Where, server

_HERE = Path(__file__).parent
GC_HEAP_MIB = 64
"""For the collector of unused files, on the master. The manager has the HMaster's heap."""

INSTANCE = "study"
PASSWORD = "study"
"""For user root. It protects nothing: a throw-away cluster, on loopback, in containers or on hosts."""
INIT = "accumulo-init"
"""Name of the command that creates the instance, in HDFS and ZooKeeper; the daemons start after it."""
INIT_HEAP_MIB = 128
_PROPERTIES = "accumulo.properties"
_TABLES: Mapping[Durability, str] = {"memory": "none", "page_cache": "flush", "synced": "sync"}
"""table.durability. Its fourth level, log, leaves writes in the tablet server: no more than none."""
_LOG_LEVELS = """\
# A line for each operation of each client.
log4j.logger.org.apache.accumulo.audit=OFF
# Each compaction of a tablet: a trial counts them.
log4j.logger.org.apache.accumulo.tablet.files=DEBUG
"""
_MAINS = {
    INIT: "org.apache.accumulo.server.init.Initialize",
    "manager": "org.apache.accumulo.manager.Manager",
    "gc": "org.apache.accumulo.gc.SimpleGarbageCollector",
    "tserver": "org.apache.accumulo.tserver.TabletServer",
}


class Accumulo(HadoopStore):
    name = "accumulo"
    title = "Accumulo"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "table.durability=none",
        "page_cache": "table.durability=flush: hflush to every DataNode of the pipeline",
        "synced": "table.durability=sync: hsync on every DataNode of the pipeline",
    }
    sites = tuple(site for site in SITES if site != "hbase-site")
    master_services = (*HadoopStore.master_services, "manager", "gc")
    services = (*HadoopStore.services, "tserver")
    master_heaps_mib = MappingProxyType({"gc": GC_HEAP_MIB})
    stack = StoreStack("accumulo", "2.1.4", _HERE)
    stacks = (*HadoopStore.stacks, stack.name)
    compiled = True
    java = 17
    db = "org.densitystudy.stores.accumulo.AccumuloDb"
    admin = "org.densitystudy.stores.accumulo.AccumuloAdmin"

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        return jars_of(self, machine)

    def initialise(self, blueprint: Blueprint) -> Daemon:
        master = blueprint.topology.master
        return server(blueprint, master, INIT, accumulo_argv(blueprint, master, INIT), "")

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        at = {"manager": "", "gc": ""}
        if "master" not in node.roles:
            at = {"tserver": blueprint.ports.address(node, "tserver")}
        daemons = (
            server(blueprint, node, name, accumulo_argv(blueprint, node, name), address, (INIT,))
            for name, address in at.items()
        )
        return accumulo_files(blueprint, node), tuple(daemons)

    def answer(self, address: str, network: str = "") -> Seen:
        """A tablet server tells the ZooKeeper that it belongs to: a call by Thrift, framed, in its compact
        protocol. Whether the manager has assigned tablets is for `StoreTool` to find out."""
        call = b"\x82\x21\0\x14client:getZooKeepers\0"
        question = len(call).to_bytes(4, "big") + call
        return answered(address, network, question, rb".{4}\x82\x41\0\x0dgetZooKeepers")

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """Clients find tablets by ZooKeeper. What follows the password is for StoreTool."""
        cluster = where.cluster
        return {
            "accumulo.zookeepers": cluster.endpoints.one("zookeeper.client"),
            "accumulo.instance": INSTANCE,
            "accumulo.password": PASSWORD,
            "accumulo.tservers": str(len(cluster.topology.workers)),
            "accumulo.durability": _TABLES[self.durability],
        }

    def logs_background_work(self, state: Mapping[str, Any]) -> tuple[str, Sequence[str]] | None:
        """Without flushes. No other counter of a tablet server outlives a moment."""
        if "table_id" not in state:
            return None
        return "tserver", [
            f"files: Compacted {state['table_id']}{end}" for end in ";<"
        ]  # < of the last tablet

    def more_disk_mib(self, data_mib: int, nodes: int, shapes: Sequence[tuple[int, int]]) -> int:
        """Logs, and files that compactions have replaced, lie on the disk until they are collected."""
        return data_mib


def tserver_heap_mib(topology: Topology, node: Node) -> int:
    """The heap of the RegionServer that the node would have with HBase."""
    heaps = daemon_heaps(replace(node, regionservers=1), sizing=topology.variant.sizing)
    return heaps["regionserver"]


def accumulo_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    """Accumulo's files beside Hadoop's, in the node's folder."""
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
        _PROPERTIES: text_file(_PROPERTIES, values, _HERE),
        "log4j.properties": text_file("log4j-daemon.properties", {}) + _LOG_LEVELS,
        f"accumulo{CLASSPATH_SUFFIX}": classpath_text(path),
    }


def accumulo_argv(blueprint: Blueprint, node: Node, name: str) -> tuple[str, ...]:
    conf = blueprint.places.conf_of(node)
    return (
        f"{blueprint.homes.java}/bin/java",
        *heap_flags(_heap_mib(blueprint.topology, node, name)),
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


def _heap_mib(topology: Topology, node: Node, name: str) -> int:
    if name == "tserver":
        return tserver_heap_mib(topology, node)
    if name == "manager":
        return daemon_heaps(node, sizing=topology.variant.sizing)["hmaster"]
    return INIT_HEAP_MIB if name == INIT else GC_HEAP_MIB


STORES = (Accumulo,)
