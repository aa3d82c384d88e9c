"""Files and command lines of the stores other than HBase. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath

from density_study.cluster.model.host import Role
from density_study.cluster.model.store import Durability, StoreName
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.render.accumulo import INIT, accumulo_argv, accumulo_files
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.cassandra import cassandra_argv, cassandra_files
from density_study.cluster.render.conf_files import text_file
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.kudu import Program, kudu_argv, kudu_environment, kudu_home
from density_study.cluster.render.redis_cluster import NODES_CONF, nodes_conf

REDIS_OVERHEAD_MIB = 96
"""Of the server, beyond its data: its own memory, buffers of clients and of the append-only file."""
_AOF: Mapping[Durability, tuple[str, str]] = {
    "memory": ("no", "no"),
    "page_cache": ("yes", "no"),
    "synced": ("yes", "always"),
}
"""appendonly and appendfsync."""


Rendering = tuple[dict[str, str], tuple[Daemon, ...]]
"""Files of a node by name, and its daemons."""


def rendered_store(blueprint: Blueprint) -> Rendering:
    """Files by path below the conf folder, and the daemons in starting order."""
    files: dict[str, str] = {}
    started: list[Daemon] = []
    for (store, role), render in _STORES.items():
        if store != blueprint.topology.store.name:
            continue
        for node in blueprint.topology.with_role(role):
            own, daemons = render(blueprint, node)
            files |= {f"nodes/{node.name}/{name}": text for name, text in own.items()}
            started += daemons
    return files, tuple(started)


def store_init(blueprint: Blueprint) -> Daemon | None:
    """What creates the store in HDFS, once HDFS is ready: it ends, and then the store's daemons start."""
    if blueprint.topology.store.name != "accumulo":
        return None
    master = blueprint.topology.master
    return _daemon(blueprint, master, INIT, accumulo_argv(blueprint, master, INIT), "")


def redis_data_mib(node: Node) -> int:
    """What the rows may take: the node's memory without the server's own."""
    return node.memory_mib - REDIS_OVERHEAD_MIB


def _redis(blueprint: Blueprint, node: Node) -> Rendering:
    conf = blueprint.places.conf_of(node)
    appendonly, appendfsync = _AOF[blueprint.topology.store.durability]
    address = blueprint.ports.address(node, "redis")
    sharded = blueprint.topology.store.name == "redis-cluster"
    values = {
        "address": node.address,
        "port": blueprint.ports.port(node, "redis"),
        "data": blueprint.data(node),
        "maxmemory_mib": redis_data_mib(node),
        "appendonly": appendonly,
        "appendfsync": appendfsync,
        "bus_port": blueprint.ports.port(node, "redis.bus") if sharded else None,
        "nodes_conf": f"{conf}/{NODES_CONF}",
    }
    files = {"redis.conf": text_file("redis.conf", values)}
    if sharded:
        files[NODES_CONF] = nodes_conf(blueprint, node)
    argv = (str(blueprint.homes.store), f"{conf}/redis.conf")
    return files, (_daemon(blueprint, node, "redis", argv, address),)


def _cassandra(blueprint: Blueprint, node: Node) -> Rendering:
    argv, address = cassandra_argv(blueprint, node), blueprint.ports.address(node, "cassandra")
    daemon = _daemon(blueprint, node, "cassandra", argv, address)
    return cassandra_files(blueprint, node), (daemon,)


def _accumulo_master(blueprint: Blueprint, node: Node) -> Rendering:
    daemons = (
        _daemon(blueprint, node, name, accumulo_argv(blueprint, node, name), "", (INIT,))
        for name in ("manager", "gc")
    )
    return accumulo_files(blueprint, node), tuple(daemons)


def _tserver(blueprint: Blueprint, node: Node) -> Rendering:
    argv = accumulo_argv(blueprint, node, "tserver")
    address = blueprint.ports.address(node, "tserver")
    daemon = _daemon(blueprint, node, "tserver", argv, address, (INIT,))
    return accumulo_files(blueprint, node), (daemon,)


def _kudu(blueprint: Blueprint, node: Node, program: Program) -> Rendering:
    argv = kudu_argv(blueprint, node, program)
    address = blueprint.ports.address(node, f"{program}.rpc")
    environment = kudu_environment(kudu_home(blueprint))
    daemon = _daemon(blueprint, node, program, argv, address, environment=environment)
    return {}, (daemon,)


def _daemon(
    blueprint: Blueprint,
    node: Node,
    name: str,
    argv: tuple[str, ...],
    address: str,
    starts_after: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> Daemon:
    log: Callable[[str], PurePath] = lambda suffix: blueprint.places.log(node, name, suffix)  # noqa: E731
    return Daemon(
        name=name,
        node=node.name,
        role=name,
        command=Command(name, argv, environment or {}, str(blueprint.data(node))),
        http="",
        log=log("log"),
        stdout=log("out"),
        stderr=log("err"),
        starts_after=starts_after,
        address=address,
    )


_STORES: Mapping[tuple[StoreName, Role], Callable[[Blueprint, Node], Rendering]] = {
    ("redis", "worker"): _redis,
    ("redis-cluster", "worker"): _redis,
    ("cassandra", "worker"): _cassandra,
    ("accumulo", "master"): _accumulo_master,
    ("accumulo", "worker"): _tserver,
    ("kudu", "master"): partial(_kudu, program="kudu-master"),
    ("kudu", "worker"): partial(_kudu, program="kudu-tserver"),
}
"""RocksDB has no daemon."""
