"""`Rendered`: what a build is made of, as text and command lines, before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from cluster.model.cluster import Endpoints
from cluster.model.topology import Node, Topology
from cluster.render.blueprint import Blueprint
from cluster.render.classpath import classpath_files
from cluster.render.core import core_site, racks
from cluster.render.daemons import Daemon, daemons, format_daemon
from cluster.render.hbase import hbase_site, zoo_cfg
from cluster.render.hdfs import hdfs_site
from cluster.render.logging import CLIENT_LOG4J, DAEMON_LOG4J
from cluster.render.mapred import mapred_site
from cluster.render.metrics import METRICS2
from cluster.render.xml import configuration_xml
from cluster.render.yarn import capacity_scheduler, yarn_site


@dataclass(frozen=True)
class Rendered:
    """`files`: path below the conf folder -> text. `prepare` makes the empty filesystem, once; what
    names it in `starts_after` waits until it has ended."""

    files: Mapping[str, str]
    prepare: Daemon
    daemons: tuple[Daemon, ...]
    endpoints: Endpoints


def render(blueprint: Blueprint) -> Rendered:
    """Everything a provider has to put on the nodes and start there. Pure. InputError on bad names."""
    blueprint.check()
    return Rendered(
        files=_files(blueprint),
        prepare=format_daemon(blueprint),
        daemons=daemons(blueprint),
        endpoints=endpoints(blueprint),
    )


def owner(path: str, topology: Topology) -> Node:
    """The node that gets a file: nodes/<node>/... is that node's, client/... the client's."""
    top, name = PurePath(path).parts[:2]
    if top == "client":
        return topology.client
    return next(node for node in topology.nodes if node.name == name)


def endpoints(blueprint: Blueprint) -> Endpoints:
    topology, ports = blueprint.topology, blueprint.ports
    master = topology.master
    return Endpoints(
        namenode_rpc=ports.address(master, "namenode.rpc"),
        namenode_http=ports.address(master, "namenode.http"),
        resourcemanager_rpc=ports.address(master, "resourcemanager.rpc"),
        resourcemanager_http=ports.address(master, "resourcemanager.http"),
        zookeeper=ports.address(master, "zookeeper.client"),
        hmaster_http=ports.address(master, "hmaster.http"),
        datanode_http={w.name: ports.address(w, "datanode.http") for w in topology.workers},
        nodemanager_http={w.name: ports.address(w, "nodemanager.http") for w in topology.workers},
        regionserver_http={
            f"{worker.name}/regionserver-{index}": ports.address(
                worker, f"regionserver-{index}.http"
            )
            for worker in topology.workers
            for index in range(1, worker.regionservers + 1)
        },
    )


def _files(blueprint: Blueprint) -> dict[str, str]:
    files: dict[str, str] = {}
    for node in _with_daemons(blueprint.topology):
        files |= _under(f"nodes/{node.name}", _node_files(blueprint, node))
    return files | _under("client", _client_files(blueprint))


def _with_daemons(topology: Topology) -> tuple[Node, ...]:
    return tuple(node for node in topology.nodes if {"master", "worker"} & set(node.roles))


def _node_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    files = {
        "core-site.xml": configuration_xml(core_site(blueprint, node)),
        "hdfs-site.xml": configuration_xml(hdfs_site(blueprint, node)),
        "yarn-site.xml": configuration_xml(yarn_site(blueprint, node)),
        "mapred-site.xml": configuration_xml(mapred_site(blueprint, node)),
        "hbase-site.xml": configuration_xml(hbase_site(blueprint, node)),
        "log4j.properties": DAEMON_LOG4J,
        "hadoop-metrics2.properties": METRICS2,
        **classpath_files(blueprint.homes, blueprint.places.conf_of(node)),
    }
    if "master" in node.roles:
        files["capacity-scheduler.xml"] = configuration_xml(capacity_scheduler(blueprint))
        files["racks"] = racks(blueprint)
        files["zoo.cfg"] = zoo_cfg(blueprint)
    return files


def _client_files(blueprint: Blueprint) -> dict[str, str]:
    client = _no_daemons(blueprint.topology.client)
    return {
        "core-site.xml": configuration_xml(core_site(blueprint, client)),
        "hdfs-site.xml": configuration_xml(hdfs_site(blueprint, client)),
        "yarn-site.xml": configuration_xml(yarn_site(blueprint, client)),
        "mapred-site.xml": configuration_xml(mapred_site(blueprint, client)),
        "hbase-site.xml": configuration_xml(hbase_site(blueprint, client)),
        "log4j.properties": CLIENT_LOG4J,
        **classpath_files(blueprint.homes, blueprint.places.client_conf),
    }


def _no_daemons(client: Node) -> Node:
    """The client may share a node with daemons; its configuration must not hold theirs."""
    return Node(
        client.name, client.host, client.address, ("client",), client.memory_mib, client.cores
    )


def _under(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in files.items()}
