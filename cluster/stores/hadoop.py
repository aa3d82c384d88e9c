"""`HadoopStore`: a store that keeps its data in HDFS, on a cluster with HDFS, YARN and ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from density_study.cluster.model.cluster import Endpoints, Kind
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import client_files, node_files
from density_study.cluster.render.daemons import Daemon, daemons, format_daemon
from density_study.cluster.render.rendered import Rendered
from density_study.cluster.stores.answers import Fetch, Judge, Seen, Service, fetching, queried
from density_study.cluster.stores.store import ClusterStore, addresses

MASTER_SERVICES = (
    "namenode.rpc",
    "namenode.http",
    "resourcemanager.rpc",
    "resourcemanager.scheduler",
    "resourcemanager.tracker",
    "resourcemanager.admin",
    "resourcemanager.http",
    "zookeeper.client",
)
WORKER_SERVICES = (
    "datanode.data",
    "datanode.ipc",
    "datanode.http",
    "datanode.proxy",
    "nodemanager.rpc",
    "nodemanager.localizer",
    "nodemanager.http",
    "nodemanager.shuffle",
)
_OF_MASTER: tuple[Kind, ...] = (
    "namenode.rpc",
    "namenode.http",
    "resourcemanager.rpc",
    "resourcemanager.http",
    "zookeeper.client",
)


class HadoopStore(ClusterStore):
    """Its daemons beside HDFS's and YARN's are `beside_hdfs`, which are HBase's or none, and `parts`."""

    hadoop = True
    stacks: ClassVar[tuple[str, ...]] = ("hadoop", "hbase")  # ZooKeeper is HBase's
    master_services: ClassVar[tuple[str, ...]] = MASTER_SERVICES
    services: ClassVar[tuple[str, ...]] = WORKER_SERVICES

    def beside_hdfs(self, topology: Topology) -> Sequence[tuple[Node, str, str]]:
        """(node, kind, name) of HBase's daemons."""
        return ()

    def initialise(self, blueprint: Blueprint) -> Daemon | None:
        """What creates the store in HDFS, once HDFS is ready: it ends, and then the store's daemons start."""
        return None

    def rendered(self, blueprint: Blueprint) -> Rendered:
        own_files, own_daemons = self.parts(blueprint)
        return Rendered(
            files={**_hadoop_files(blueprint), **own_files},
            prepare=format_daemon(blueprint),
            daemons=(*daemons(blueprint, self.beside_hdfs(blueprint.topology)), *own_daemons),
            endpoints=Endpoints({"store": addresses(own_daemons), **self.endpoints(blueprint)}),
            initialise=self.initialise(blueprint),
        )

    def endpoints(self, blueprint: Blueprint) -> dict[Kind, dict[str, str]]:
        """The daemons of Hadoop and HBase: kind -> <node>/<daemon> -> address."""
        address, master = blueprint.ports.address, blueprint.topology.master
        known: dict[Kind, dict[str, str]] = {
            kind: {f"{master.name}/{kind.partition('.')[0]}": address(master, kind)}
            for kind in _OF_MASTER
        }
        datanodes = {
            f"{one.name}/datanode": address(one, "datanode.http")
            for one in blueprint.topology.workers
        }
        return {**known, "jmx": {**known["namenode.http"], **datanodes}}

    def readiness(
        self, topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None
    ) -> list[Service]:
        ask, workers = fetching(fetch, endpoints.network), len(topology.workers)
        checked = partial(jmx_check, ask)
        namenode, manager = "NameNode,name=FSNamesystemState", "ResourceManager,name=ClusterMetrics"
        hdfs = checked(endpoints.one("namenode.http"), namenode, hdfs_seen, workers)
        yarn = checked(endpoints.one("resourcemanager.http"), manager, yarn_seen, workers)
        hadoop = [Service("hdfs", "namenode", hdfs), Service("yarn", "resourcemanager", yarn)]
        return [*hadoop, *super().readiness(topology, endpoints, fetch)]

    def listens_on_all(self, blueprint: Blueprint) -> dict[str, list[str]]:
        workers, port = blueprint.topology.workers, blueprint.ports.port
        return {
            "ShuffleHandler of the NodeManagers": [
                f"{one.name}: port {port(one, 'nodemanager.shuffle')}" for one in workers
            ],
            "MapReduce ApplicationMaster": ["any worker: ephemeral ports, during a job"],
        }


def _hadoop_files(blueprint: Blueprint) -> dict[str, str]:
    """Files by path below the conf folder. Clients on a node with daemons have a folder of their own."""
    topology = blueprint.topology
    folders = {"client": client_files(blueprint, topology.client)}
    for node in topology.nodes:
        if {"master", "worker"} & set(node.roles):
            folders[f"nodes/{node.name}"] = node_files(blueprint, node)
        elif node != topology.client:
            folders[f"nodes/{node.name}"] = client_files(blueprint, node)
    for node in topology.workers if topology.workers_are_clients else ():
        folders[f"clients/{node.name}"] = client_files(blueprint, node)
    return {
        f"{folder}/{name}": text for folder, own in folders.items() for name, text in own.items()
    }


def jmx_check(
    fetch: Fetch, address: str, bean: str, judge: Judge, expected: int
) -> Callable[[], Seen]:
    """A check of a daemon by one of its JMX beans."""
    url = f"http://{address}/jmx?qry=Hadoop:service={bean}"
    return lambda: queried(fetch, url, judge, expected)


def hdfs_seen(beans: dict[str, Any], expected: int) -> Seen:
    """Out of safe mode, with every DataNode."""
    live, state = beans["NumLiveDataNodes"], beans["FSState"]
    ready = live == expected and state == "Operational"
    return Seen(ready, f"{live} of {expected} DataNodes live, {state}")


def yarn_seen(beans: dict[str, Any], expected: int) -> Seen:
    """Every NodeManager running."""
    active = beans["NumActiveNMs"]
    return Seen(active == expected, f"{active} of {expected} NodeManagers running")
