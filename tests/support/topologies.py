"""Topologies and blueprints for tests: built by hand, independent of the placement code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from density_study.cluster.model.cluster import Cluster, Endpoints, Site
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.placement import Layout
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.render.blueprint import Blueprint, InstallDirs, NodePaths
from density_study.cluster.stores.hbase.store import HBase

HOMES = InstallDirs(
    java=PurePath("/opt/java"),
    client_java=PurePath("/opt/java"),
    hadoop=PurePath("/opt/hadoop"),
    hbase=PurePath("/opt/hbase"),
    hadoop_classpath=("/opt/hadoop/lib/a.jar", "/opt/hadoop/lib/b.jar", "/opt/hadoop"),
    hbase_classpath=("/opt/hbase/lib/c.jar", "/opt/hbase"),
    store=PurePath("/usr/bin/redis-server"),
    store_classpath=("/opt/cassandra/lib/d.jar", "/opt/cassandra/lib/jamm-0.jar", "/opt/cassandra"),
)
DISK = Disk("/data", "flash")


def worker(name: str, address: str = "127.0.0.1", host: str = "h1", servers: int = 1) -> Node:
    return Node(name, host, address, ("worker",), 1600 + 416 * servers, 2, DISK, 512, servers)


def local(workers: int = 2, servers: int = 1, base_port: int = 21000) -> Topology:
    """All on one address, as with the local provider."""
    host = Host("h1", "127.0.0.1", 2, 6144, (DISK,), ("master", "worker", "client"))
    nodes = [
        Node("m1", "h1", "127.0.0.1", ("master",), 1536, 2, DISK),
        Node("c1", "h1", "127.0.0.1", ("client",), 672, 2, None),
    ]
    nodes += [worker(f"w{index}", servers=servers) for index in range(1, workers + 1)]
    return _topology("local", (host,), nodes, base_port)


def physical() -> Topology:
    """Two hosts and a master with the client on it, each with its own address."""
    names = ("big", "h1", "h2")
    hosts = tuple(
        Host(name, f"192.0.2.{number}", 16, 8192, (DISK,), ("worker",))
        for number, name in enumerate(names, start=10)
    )
    nodes = [
        Node("big", "big", "192.0.2.10", ("master", "client"), 4096, 16, DISK),
        worker("h1", "192.0.2.11", "h1"),
        worker("h2", "192.0.2.12", "h2", servers=2),
    ]
    return _topology("physical", hosts, nodes, 21000)


def layout_of(provider: str, replication: int = 1, base_port: int = 21000) -> Layout:
    """Of a study with this provider of `cluster.providers`."""
    return Layout(provider_named(provider), replication, base_port)


def with_variant(topology: Topology, **changes: Any) -> Topology:
    """The same nodes, of a variant with other levels."""
    return replace(topology, variant=replace(topology.variant, **changes))


def blueprint(topology: Topology) -> Blueprint:
    data = {n.name: PurePath(f"/data/density-study/s/r/b1/{n.name}") for n in topology.nodes}
    places = NodePaths(PurePath("/runs/b1/conf"), PurePath("/runs/b1/logs"), data)
    return Blueprint(topology, "s/r/b1", allocate_ports(topology), HOMES, places)


def _topology(
    provider: str, hosts: tuple[Host, ...], nodes: list[Node], base_port: int
) -> Topology:
    made_by = provider_named(provider)
    return Topology(
        name="v2-flash",
        provider=made_by,
        isolation=made_by.isolation,
        variant=Variant(2, 1, "flash"),
        replication=1,
        hosts=hosts,
        nodes=tuple(nodes),
        base_port=base_port,
    )


def yarn_cluster(container_mib: int, workers: int = 2) -> Cluster:
    spec = local(workers)
    nodes = tuple(
        replace(n, container_mib=container_mib) if n.regionservers else n for n in spec.nodes
    )
    topology = replace(spec, nodes=nodes)
    return Cluster(
        site=Site(Path("/runs/q/1/builds/b1"), "q/1/b1"),
        topology=topology,
        endpoints=Endpoints(HBase().endpoints(blueprint(topology))),
        processes=(),
        hadoop_home=Path("/opt/hadoop"),
        java_home=Path("/opt/java"),
        client_java_home=Path("/opt/java"),
        disclosure={},
    )
