"""`Blueprint`: everything that rendering needs; it looks nothing up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from density_study.cluster.model.ports import Ports
from density_study.cluster.model.topology import Node, Placed, Topology
from density_study.cluster.render.names import check_address, check_name, check_path, check_tag

LIBRARY_PATH = "LD_LIBRARY_PATH"


@dataclass(frozen=True)
class InstallDirs:
    """Where Java and the two stacks are on every node. Class paths list every jar, in fixed order.

    `client_java` is that of HBase's clients, which is the same in all variants. `store`: the server program
    of another store, or else the jars of its servers. `zookeeper_classpath`: empty where ZooKeeper is
    HBase's. `hbase_properties`: what jars of the user need in hbase-site.xml.
    """

    java: PurePath
    client_java: PurePath
    hadoop: PurePath
    hbase: PurePath
    hadoop_classpath: tuple[str, ...]
    hbase_classpath: tuple[str, ...]
    store: PurePath | None = None
    store_classpath: tuple[str, ...] = ()
    zookeeper_classpath: tuple[str, ...] = ()
    native: PurePath | None = None
    hbase_properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def library_path(self) -> dict[str, str]:
        """Environment of every JVM that uses Hadoop: Java and the libraries themselves look there. `native`
        is the folder of Hadoop's native libraries."""
        return {LIBRARY_PATH: str(self.native)} if self.native else {}


@dataclass(frozen=True)
class NodePaths:
    """Where a build's files are on its nodes: `conf` and `logs` hold one folder per node.

    `data` is each node's own directory on its disk, `more_data` those on further drives of its DataNode,
    `cache` the one of its caches that are files, if that is another. Only the build uses them, and
    tear-down removes them.
    """

    conf: PurePath
    logs: PurePath
    data: Mapping[str, PurePath]
    more_data: Mapping[str, tuple[PurePath, ...]] = field(default_factory=dict)
    cache: Mapping[str, PurePath] = field(default_factory=dict)

    def data_of(self, node: Node) -> tuple[PurePath, ...]:
        """The node's directory on each of its drives."""
        return (self.data[node.name], *self.more_data.get(node.name, ()))

    def cache_of(self, node: Node) -> PurePath:
        """Where caches that are files lie."""
        return self.cache.get(node.name, self.data[node.name])

    def all_data(self, nodes: Sequence[Node]) -> list[tuple[str, PurePath]]:
        """(node, directory) of all drives of all nodes."""
        found = [(node.name, path) for node in nodes for path in self.data_of(node)]
        return found + [
            (node.name, self.cache[node.name]) for node in nodes if node.name in self.cache
        ]

    def conf_of(self, node: Node) -> PurePath:
        return self.conf / "nodes" / node.name

    @property
    def client_conf(self) -> PurePath:
        """Folder with the configuration of the first client."""
        return self.conf / "client"

    def client_conf_of(self, topology: Placed, node: Node) -> PurePath:
        """A node without daemons has one folder; elsewhere clients must not get the daemons' settings."""
        if node == topology.client:
            return self.client_conf
        return (
            self.conf_of(node) if node.roles == ("client",) else self.conf / "clients" / node.name
        )

    def log(self, node: Node, daemon: str, suffix: str) -> PurePath:
        return self.logs / node.name / f"{daemon}.{suffix}"


@dataclass(frozen=True)
class Blueprint:
    """One build of one topology, ready to be rendered.

    `timeout_scale`: the factor by which everything is slower than on real hardware; over 1 where nodes are
    emulated guests (`cluster.state.timeout_scale`).
    """

    topology: Topology
    tag: str
    ports: Ports
    homes: InstallDirs
    places: NodePaths
    timeout_scale: float = 1.0

    def check(self) -> Blueprint:
        """The same blueprint. InputError if a name, address or path cannot be rendered safely."""
        check_tag(self.tag, "run")
        for host in self.topology.hosts:
            check_name(host.name, "hosts")
        for node in self.topology.nodes:
            check_name(node.name, "nodes")
            check_address(node.address, f"node {node.name!r}")
        homes, places = self.homes, self.places
        classpaths = homes.hadoop_classpath + homes.hbase_classpath + homes.store_classpath
        classpaths += homes.zookeeper_classpath
        jars = map(PurePath, classpaths)
        for path in (homes.java, homes.hadoop, places.conf, places.logs, *jars):
            check_path(path, "place of the run or of the stack")
        for node in self.topology.nodes:
            for path in (*places.data_of(node), places.cache_of(node)):
                check_path(path, f"disk of node {node.name!r}")
        return self

    def data(self, node: Node) -> PurePath:
        return self.places.data[node.name]

    def beat_ms(self, usual_ms: int) -> str:
        """The interval of a heartbeat or poll. Emulated guests get a longer one, since answering must not use
        all their CPU, but at most a second: an ApplicationMaster reports the end of its job for only five."""
        return str(round(min(usual_ms * self.timeout_scale, max(usual_ms, 1000))))

    @property
    def shared_address(self) -> bool:
        """Whether several workers answer on one address, as in the local provider."""
        addresses = [worker.address for worker in self.topology.workers]
        return len(set(addresses)) < len(addresses)
