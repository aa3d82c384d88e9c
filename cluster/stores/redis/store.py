"""Redis: one server on the worker, or Redis Cluster with a shard on each. Valkey serves as well."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import ExistingCluster, StoreEndpoint
from density_study.cluster.model.store import Durability, MachineProgram
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import text_file
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware
from density_study.cluster.stores.act import Act
from density_study.cluster.stores.answers import Seen, answered
from density_study.cluster.stores.store import NOTHING, ClusterStore, Part, Rows, Where, server

NODES_CONF = "nodes.conf"
SLOTS = 16384
"""For every cluster: a key's slot is its CRC16 modulo this."""


def slots(nodes: int) -> list[range]:
    """The slots of each node: equal parts, since keys are hashed."""
    first = [number * SLOTS // nodes for number in range(nodes + 1)]
    return [range(*first[number : number + 2]) for number in range(nodes)]


def nodes_conf(blueprint: Blueprint, node: Node) -> str:
    """nodes.conf of Redis Cluster: every node and its slots, known before the first one starts. As a node
    that restarts finds it: nothing has to meet, and no slot is assigned by a command."""
    workers, ports = blueprint.topology.workers, blueprint.ports
    lines = []
    for epoch, (worker, own) in enumerate(zip(workers, slots(len(workers)), strict=True), 1):
        address = f"{ports.address(worker, 'redis')}@{ports.port(worker, 'redis.bus')}"
        flags = "myself,master" if worker == node else "master"
        identity = hashlib.sha256(f"{blueprint.tag}/{worker.name}".encode()).hexdigest()[:40]
        lines.append(
            f"{identity} {address} {flags} - 0 0 {epoch} connected {own.start}-{own.stop - 1}\n"
        )
    return "".join((*lines, f"vars currentEpoch {len(workers)} lastVoteEpoch 0\n"))


OVERHEAD_MIB = 96
"""For the server, beyond its data: its own memory, buffers of clients and of the append-only file."""
# Measured with 10 fields of 100 bytes: 2.05 KiB a row, with its key in the index.
ROW_BYTES = 250
FIELD_BYTES = 95
_PROGRAM = MachineProgram(
    ("redis-server", "valkey-server"), "redis-server", r"(\w+) server v=(\S+)"
)
_CLUSTER_PORT_SINCE = 7
"""The first version of Redis, and of Valkey, with the option cluster-port."""
_AOF: Mapping[Durability, tuple[str, str]] = {
    "memory": ("no", "no"),
    "page_cache": ("yes", "no"),
    "synced": ("yes", "always"),
}
"""appendonly and appendfsync."""
_PROMISED: Mapping[str, Durability] = {"everysec": "memory", "no": "page_cache", "always": "synced"}
"""appendfsync of an append-only file. With everysec, writes wait in memory while the file is synced."""


class Redis(ClusterStore):
    name = "redis"
    title = "Redis"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "appendonly no",
        "page_cache": "appendonly yes, appendfsync no: written before the reply",
        "synced": "appendonly yes, appendfsync always: fsync before the reply",
    }
    services: ClassVar[tuple[str, ...]] = ("redis",)
    workers: ClassVar[int | None] = 1
    drives = 1
    acts = (Act("aof-rewrite", tool=(("settle",),), not_at=("memory",)),)
    existing = True
    db = "org.densitystudy.stores.redis.RedisClient"
    admin = "org.densitystudy.stores.redis.RedisAdmin"
    endpoint_admin = "org.densitystudy.stores.redis.RedisEndpoint"
    program = _PROGRAM
    deciding = ("appendonly", "appendfsync")
    room = "maxmemory"

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        assert self.program is not None
        found = machine.program(self.program)
        name, version, sha256 = found["name"], found["version"], found["sha256"]
        return StoreSoftware(name, version, sha256, Path(found["program"]))

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        if "worker" not in node.roles:
            return NOTHING
        conf, ports = blueprint.places.conf_of(node), blueprint.ports
        appendonly, appendfsync = _AOF[self.durability]
        values = {
            "address": node.address,
            "port": ports.port(node, "redis"),
            "data": blueprint.data(node),
            "maxmemory_mib": data_mib(node),
            "appendonly": appendonly,
            "appendfsync": appendfsync,
            "nodes_conf": f"{conf}/{NODES_CONF}",
            **self._sharded(blueprint, node),
        }
        files = {"redis.conf": text_file("redis.conf", values, Path(__file__).parent)}
        argv = (str(blueprint.homes.store), f"{conf}/redis.conf")
        return files, (server(blueprint, node, "redis", argv, ports.address(node, "redis")),)

    def _sharded(self, blueprint: Blueprint, node: Node) -> dict[str, int | None]:
        return {"bus_port": None}

    def answer(self, address: str, network: str = "") -> Seen:
        """Answers PING with PONG: not while it loads its data."""
        return answered(address, network, b"PING\r\n", rb"\+PONG\r\n")

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """One address, or those of all shards."""
        return self._at(where.cluster.endpoints.all("store").values())

    def _at(self, addresses: Iterable[str]) -> dict[str, str]:
        return {"redis.address": ",".join(addresses)}

    def check_rows(self, rows: Rows, topology: Topology) -> None:
        """Each shard has an equal part of the rows."""
        need_mib = rows_mib(rows) / len(topology.workers)
        for worker in topology.workers:
            if need_mib > data_mib(worker):
                raise InputError(
                    f"{rows.id}: Redis keeps all rows in memory; those of a server take {need_mib:.0f} MiB, "
                    f"and {worker.name} has {data_mib(worker)} MiB for them.",
                    "records",
                    "load fewer or smaller rows, or give the host more memory.",
                    ("workloads",),
                )

    def endpoint_fault(self, endpoint: StoreEndpoint) -> tuple[str, str]:
        if self.workers and len(endpoint.addresses) > self.workers:
            return (
                "store redis is one server; for a cluster, write store: redis-cluster",
                "addresses",
            )
        return super().endpoint_fault(endpoint)

    def endpoint_properties(
        self, existing: ExistingCluster, endpoint: StoreEndpoint
    ) -> dict[str, str]:
        return {**self._at(endpoint.addresses), "redis.prefix": f"{existing.namespace}:"}

    def promised(self, facts: Mapping[str, Any]) -> Durability | None:
        if facts["appendonly"] == "no":
            return "memory"
        return _PROMISED.get(facts["appendfsync"]) if facts["appendonly"] == "yes" else None


class RedisCluster(Redis):
    """Redis Cluster: shards without replicas, and clients that know all shards."""

    name = "redis-cluster"
    title = "Redis Cluster"
    services = ("redis", "redis.bus")
    workers = None
    ordered = False
    db = "org.densitystudy.stores.redis.RedisClusterClient"
    program = replace(_PROGRAM, since=_CLUSTER_PORT_SINCE)

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        files, daemons = super().part_of(blueprint, node)
        return ({**files, NODES_CONF: nodes_conf(blueprint, node)}, daemons) if files else NOTHING

    def _sharded(self, blueprint: Blueprint, node: Node) -> dict[str, int | None]:
        return {"bus_port": blueprint.ports.port(node, "redis.bus")}

    def _at(self, addresses: Iterable[str]) -> dict[str, str]:
        return {**super()._at(addresses), "redis.cluster": "true"}

    def answer(self, address: str, network: str = "") -> Seen:
        """Answers CLUSTER INFO with the state ok. Every node is queried: one that has just started takes the
        others for alive."""
        seen = answered(address, network, b"CLUSTER INFO\r\n", rb"\$")
        return Seen(seen.ready and "cluster_state:ok" in seen.state, seen.state)


def data_mib(node: Node) -> int:
    """What the rows may take: the node's memory without the server's own."""
    return node.memory_mib - OVERHEAD_MIB


def rows_mib(rows: Rows) -> float:
    """Memory of the loaded rows."""
    return rows.records * (ROW_BYTES + rows.fields * (rows.field_length + FIELD_BYTES)) / 2**20


STORES = (Redis, RedisCluster)
