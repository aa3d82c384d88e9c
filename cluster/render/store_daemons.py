"""Files and command lines of the stores other than HBase. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import MappingProxyType

from density_study.cluster.model.store import Durability, StoreName
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.cassandra import cassandra_argv, cassandra_files
from density_study.cluster.render.conf_files import text_file
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.kudu import Program, kudu_argv, kudu_environment, kudu_home

REDIS_OVERHEAD_MIB = 96
"""Of the server, beyond its data: its own memory, buffers of clients and of the append-only file."""
_AOF: Mapping[Durability, tuple[str, str]] = {
    "memory": ("no", "no"),
    "page_cache": ("yes", "no"),
    "synced": ("yes", "always"),
}
"""appendonly and appendfsync."""


def rendered_store(blueprint: Blueprint) -> tuple[dict[str, str], tuple[Daemon, ...]]:
    """Files by path below the conf folder, and the daemons in starting order."""
    files: dict[str, str] = {}
    started: list[Daemon] = []
    if blueprint.topology.store.name == "kudu":
        started.append(_kudu(blueprint, blueprint.topology.master, "kudu-master")[1])
    render = _STORES.get(blueprint.topology.store.name)
    for node in blueprint.topology.workers if render else ():
        assert render is not None
        own, daemon = render(blueprint, node)
        files |= {f"nodes/{node.name}/{name}": text for name, text in own.items()}
        started.append(daemon)
    return files, tuple(started)


def redis_data_mib(node: Node) -> int:
    """What the rows may take: the node's memory without the server's own."""
    return node.memory_mib - REDIS_OVERHEAD_MIB


def _redis(blueprint: Blueprint, node: Node) -> tuple[dict[str, str], Daemon]:
    conf = blueprint.places.conf_of(node)
    appendonly, appendfsync = _AOF[blueprint.topology.store.durability]
    address = blueprint.ports.address(node, "redis")
    values = {
        "address": node.address,
        "port": blueprint.ports.port(node, "redis"),
        "data": blueprint.data(node),
        "maxmemory_mib": redis_data_mib(node),
        "appendonly": appendonly,
        "appendfsync": appendfsync,
    }
    files = {"redis.conf": text_file("redis.conf", values)}
    argv = (str(blueprint.homes.store), f"{conf}/redis.conf")
    return files, _daemon(blueprint, node, "redis", argv, address)


def _cassandra(blueprint: Blueprint, node: Node) -> tuple[dict[str, str], Daemon]:
    argv, address = cassandra_argv(blueprint, node), blueprint.ports.address(node, "cassandra")
    daemon = _daemon(blueprint, node, "cassandra", argv, address)
    return cassandra_files(blueprint, node), daemon


def _kudu(
    blueprint: Blueprint, node: Node, program: Program = "kudu-tserver"
) -> tuple[dict[str, str], Daemon]:
    argv, address = (
        kudu_argv(blueprint, node, program),
        blueprint.ports.address(node, f"{program}.rpc"),
    )
    environment = kudu_environment(kudu_home(blueprint))
    return {}, _daemon(blueprint, node, program, argv, address, environment)


def _daemon(
    blueprint: Blueprint,
    node: Node,
    name: str,
    argv: tuple[str, ...],
    address: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Daemon:
    log: Callable[[str], PurePath] = lambda suffix: blueprint.places.log(node, name, suffix)  # noqa: E731
    return Daemon(
        name=name,
        node=node.name,
        role=name,
        command=Command(name, argv, environment, str(blueprint.data(node))),
        http="",
        log=log("log"),
        stdout=log("out"),
        stderr=log("err"),
        address=address,
    )


_STORES: Mapping[StoreName, Callable[[Blueprint, Node], tuple[dict[str, str], Daemon]]] = {
    "redis": _redis,
    "cassandra": _cassandra,
    "kudu": _kudu,
}
"""Of a worker. RocksDB has no daemon."""
