"""Cassandra: a node on each worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

from density_study.cluster.model.existing import ExistingCluster, StoreEndpoint
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import Durability, StoreStack
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import CLASSPATH_SUFFIX, classpath_text, text_file
from density_study.cluster.render.jvm import common_flags, heap_flags
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware, jars_of
from density_study.cluster.stores.answers import Seen, answered
from density_study.cluster.stores.store import NOTHING, ClusterStore, Part, Where, server

_HERE = Path(__file__).parent
KEYSPACE = "study"
OVERHEAD_MIB = 320
"""For each node beyond its heap, its file cache and its network buffers: measured, see docs/stores.md."""
COMMIT_LOG_LEAST_MIB = 64
"""Two segments of each node's commit log, which are as large however little is written."""
_MAIN = "org.apache.cassandra.service.CassandraDaemon"
_RING = 2**64
"""Murmur3's tokens go from -2^63 to 2^63 - 1."""
_COMMIT_LOG: Mapping[Durability, str] = {"memory": "periodic", "synced": "batch"}
"""In memory, no write of the study's keyspace goes to the log."""
_PROMISED: Mapping[str, Durability] = {"periodic": "memory", "batch": "synced", "group": "synced"}
_EXPORTED = (
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
)
_OPENED = (
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
)
"""Packages that Cassandra 5.0 accesses by reflection on Java 17."""
_COLLECTOR = (
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=300",
    "-XX:InitiatingHeapOccupancyPercent=70",
    "-XX:+ParallelRefProcEnabled",
)
"""As Cassandra ships it for Java 17, without the sizes that are meant for large heaps."""


class Cassandra(ClusterStore):
    name = "cassandra"
    title = "Cassandra"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "durable_writes false; writes at consistency ALL, reads at ONE",
        "synced": "commitlog_sync batch: synced on every replica before the reply; writes at "
        "consistency ALL, reads at ONE",
    }
    without = (
        "with commitlog_sync periodic, a killed process loses what it acknowledged in its last "
        "100 ms (CASSANDRA-13987), and the other modes sync to the device"
    )
    services = ("cassandra", "cassandra.storage", "cassandra.jmx")
    stack = StoreStack("cassandra", "5.0.9", _HERE)
    stacks = (stack.name,)
    ordered = False
    compiled = True
    java = 17
    existing = True
    db = "org.densitystudy.stores.cassandra.CassandraClient"
    admin = "org.densitystudy.stores.cassandra.CassandraAdmin"
    endpoint_admin = "org.densitystudy.stores.cassandra.CassandraEndpoint"
    deciding = ("commitlog_sync",)

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        return jars_of(self, machine)

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        if "worker" not in node.roles:
            return NOTHING
        argv, address = cassandra_argv(blueprint, node), blueprint.ports.address(node, "cassandra")
        daemon = server(blueprint, node, "cassandra", argv, address)
        return cassandra_files(blueprint, node), (daemon,)

    def answer(self, address: str, network: str = "") -> Seen:
        """Answers OPTIONS of CQL's protocol with SUPPORTED: it listens once it has joined the ring. Whether
        the nodes see each other, and keep a row, is for `StoreTool` to find out."""
        return answered(address, network, b"\x04\0\0\0\x05\0\0\0\0", rb"\x84\0\0\0\x06")

    def listens_on_all(self, blueprint: Blueprint) -> dict[str, list[str]]:
        if blueprint.topology.isolation.facts.on_loopback:
            return {}
        port, workers = blueprint.ports.port, blueprint.topology.workers
        at = [f"{one.name}: port {port(one, 'cassandra.jmx')}" for one in workers]
        return {"JMX of Cassandra": at}

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """Clients of the data use the nodes' addresses of CQL; the tool that settles tables needs JMX."""
        topology = where.cluster.built
        ports, nodes = allocate_ports(topology), topology.workers
        jmx = (f"{jmx_host(topology, one)}:{ports.port(one, 'cassandra.jmx')}" for one in nodes)
        return {
            "cassandra.nodes": ",".join(ports.address(node, "cassandra") for node in nodes),
            "cassandra.jmx": ",".join(jmx),
            "cassandra.keyspace": KEYSPACE,
            "cassandra.replication": str(topology.replication),
            "durability": self.durability,
        }

    def more_disk_mib(self, data_mib: int, nodes: int, shapes: Sequence[tuple[int, int]]) -> int:
        return nodes * COMMIT_LOG_LEAST_MIB

    def endpoint_properties(
        self, existing: ExistingCluster, endpoint: StoreEndpoint
    ) -> dict[str, str]:
        return {
            "cassandra.nodes": ",".join(endpoint.addresses),
            "cassandra.keyspace": existing.namespace,
            "cassandra.datacenter": endpoint.datacenter,
            "cassandra.replication": str(endpoint.replication),
        }

    def promised(self, facts: Mapping[str, Any]) -> Durability | None:
        return _PROMISED.get(facts["commitlog_sync"])


def heap_mib(node: Node) -> int:
    """The heap of a node's Cassandra: its memory, less what lies off the heap. The file cache has a quarter
    of the heap and the network buffers a sixteenth, as by Cassandra's defaults."""
    return (node.memory_mib - OVERHEAD_MIB) * 16 // 21


def tokens(nodes: int) -> list[int]:
    """The first token of each node's part of the ring: equal parts, since keys are hashed."""
    return [-(2**63) + number * _RING // nodes for number in range(nodes)]


def jmx_host(topology: Topology, node: Node) -> str:
    """Loopback, where everything is on this machine; else the node's address, because the tool that settles
    tables is on another one."""
    return "127.0.0.1" if topology.isolation.facts.on_loopback else node.address


def _jmx_flags(blueprint: Blueprint, node: Node) -> tuple[str, ...]:
    """Without authentication: on loopback, or on all addresses, as the JVM offers no choice."""
    port = blueprint.ports.port(node, "cassandra.jmx")
    fixed = f"-Dcom.sun.management.jmxremote.rmi.port={port}"
    if blueprint.topology.isolation.facts.on_loopback:
        return f"-Dcassandra.jmx.local.port={port}", fixed
    return (
        f"-Dcassandra.jmx.remote.port={port}",
        fixed,
        f"-Djava.rmi.server.hostname={jmx_host(blueprint.topology, node)}",
        "-Dcom.sun.management.jmxremote.authenticate=false",
    )


def cassandra_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    workers, ports = blueprint.topology.workers, blueprint.ports
    heap = heap_mib(node)
    values = {
        "token": tokens(len(workers))[workers.index(node)],
        "data": f"{blueprint.data(node)}/cassandra",
        "data_folders": ", ".join(
            f"{folder}/cassandra/data" for folder in blueprint.places.data_of(node)
        ),
        "seed": ports.address(workers[0], "cassandra.storage"),
        "address": node.address,
        "native_port": ports.port(node, "cassandra"),
        "storage_port": ports.port(node, "cassandra.storage"),
        "commitlog_sync": _COMMIT_LOG[blueprint.topology.store.durability],
        "file_cache_mib": heap // 4,
        "network_mib": heap // 16,
    }
    return {
        "cassandra.yaml": text_file("cassandra.yaml", values, _HERE),
        "logback.xml": text_file("logback.xml", {}, _HERE),
        f"cassandra{CLASSPATH_SUFFIX}": classpath_text(blueprint.homes.store_classpath),
    }


def cassandra_argv(blueprint: Blueprint, node: Node) -> tuple[str, ...]:
    conf, data = blueprint.places.conf_of(node), blueprint.data(node)
    heap = heap_mib(node)
    exports = (f"--add-exports={package}=ALL-UNNAMED" for package in _EXPORTED)
    opens = (f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED)
    return (
        f"{blueprint.homes.java}/bin/java",
        *heap_flags(heap),
        f"-XX:MaxDirectMemorySize={heap // 2}m",
        *_COLLECTOR,
        *common_flags(f"{data}/tmp"),
        *exports,
        *opens,
        f"-javaagent:{_jar(blueprint.homes.store_classpath, 'jamm-')}",
        f"-Djna.tmpdir={data}/tmp",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Djdk.attach.allowAttachSelf=true",
        *_jmx_flags(blueprint, node),
        f"-Dlogback.configurationFile={conf}/logback.xml",
        f"-Dstudy.log={blueprint.places.log(node, 'cassandra', 'log')}",
        f"-Dcassandra.config=file://{conf}/cassandra.yaml",
        f"-Dcassandra.storagedir={data}/cassandra",
        # Nobody else gossips, and nothing has to settle: an empty cluster of known nodes.
        "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        f"@{conf}/cassandra{CLASSPATH_SUFFIX}",
        _MAIN,
    )


def _jar(classpath: Sequence[str], prefix: str) -> str:
    return next(path for path in classpath if PurePath(path).name.startswith(prefix))


STORES = (Cassandra,)
