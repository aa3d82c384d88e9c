"""`Topology` and `Node`: the placed nodes of one variant. `ExistingTopology`: the client of a cluster of
others.

Frozen values without side effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, get_type_hints

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.dividing.sizing import sizing_before
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.host import Disk, Host, MemoryFolder, Role
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.network import present_names
from density_study.cluster.model.provider import ProviderKind
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.variant import Variant

Jit = Literal["full", "c1"]


@dataclass(frozen=True)
class Node:
    """What daemons run on: a host itself, one of its VMs or containers, or (local) a group of processes.

    `memory_mib` is the node's share of its host. `container_mib` is the part YARN may give to
    containers; `regionservers` how many RegionServers the node carries. `disk` holds everything that
    the node writes, except that store, DataNode and YARN's containers also write to `more_disks`. A guest has
    a data disk for each entry, and may have several on one drive. `cache_disk` holds its RegionServers' block
    caches and its DataNode's cache, where they are files. `excess_mib`: what YARN gives beyond `memory_mib`.
    """

    name: str
    host: str
    address: str
    roles: tuple[Role, ...]
    memory_mib: int
    cores: int
    disk: Disk | None = None
    container_mib: int = 0
    regionservers: int = 0
    more_disks: tuple[Disk, ...] = ()
    cache_disk: Disk | MemoryFolder | None = None
    excess_mib: int = 0

    @property
    def yarn_mib(self) -> int:
        """All that YARN gives to containers."""
        return self.container_mib + self.excess_mib

    @property
    def disks(self) -> tuple[Disk, ...]:
        """Every drive of its DataNode."""
        return ((self.disk,) if self.disk else ()) + self.more_disks

    @property
    def lead_drive(self) -> str:
        """The path that stands for all its drives: two workers have all of them in common, or none."""
        return min(disk.path for disk in self.disks)

    @property
    def regionserver_names(self) -> tuple[str, ...]:
        return tuple(f"regionserver-{index}" for index in range(1, self.regionservers + 1))


class Flat:
    """Base of a dataclass with a field `variant`, a dataclass whose fields stand beside the others in
    JSON."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        of_variant = {field.name for field in fields(get_type_hints(cls)["variant"])}
        own = handler(source)

        def nested(value: Any) -> Any:
            if not isinstance(value, Mapping) or "variant" in value:
                return value
            rest = {name: value[name] for name in value.keys() - of_variant}
            for name in ("existing", "given"):  # plans of versions that knew one kind of topology
                if rest.get(name, 1) is None:
                    del rest[name]
            variant = {name: value[name] for name in of_variant & value.keys()}
            if isinstance(variant.get("network"), Mapping):
                variant["network"] = present_names(variant["network"])
            if "sizing" in of_variant - variant.keys():
                variant["sizing"] = sizing_before(_largest_mib(rest.get("hosts")))
            return {**rest, "variant": variant}

        def flat(value: Any, serialize: core_schema.SerializerFunctionWrapHandler) -> Any:
            found = serialize(value)
            variant = found.pop("variant")
            return {**found, **variant}

        return core_schema.no_info_before_validator_function(
            nested,
            own,
            serialization=core_schema.wrap_serializer_function_ser_schema(flat, schema=own),
        )


def _largest_mib(hosts: Any) -> int:
    """Memory of the largest host of a recorded topology; 0 of what is none."""
    every = hosts if isinstance(hosts, list | tuple) else ()
    found = (host.get("memory_mib") for host in every if isinstance(host, Mapping))
    return max((mib for mib in found if isinstance(mib, int)), default=0)


class Existing:
    """Base of a dataclass with a field `existing`. For plans that knew one kind of topology, it leaves out
    fields that mean nothing for an existing cluster."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]

        def known(value: Any) -> Any:
            if not isinstance(value, Mapping) or not value.get("existing"):
                return value
            return {name: value[name] for name in names & value.keys()}

        return core_schema.no_info_before_validator_function(known, handler(source))


@dataclass(frozen=True)
class Placed:
    """Nodes on hosts. `provider` makes them."""

    name: str
    provider: ProviderKind
    hosts: tuple[Host, ...]
    nodes: tuple[Node, ...]

    @property
    def occupied(self) -> tuple[Host, ...]:
        """Hosts that carry nodes: `factors.hosts` leaves others idle."""
        used = {node.host for node in self.nodes}
        return tuple(host for host in self.hosts if host.name in used)

    def with_role(self, role: Role) -> tuple[Node, ...]:
        """Nodes that carry `role`, in the order they were placed."""
        return tuple(node for node in self.nodes if role in node.roles)

    @property
    def master(self) -> Node:
        return self.with_role("master")[0]

    @property
    def client(self) -> Node:
        """The node of every client program but YCSB's, which runs on all `clients`."""
        return self.clients[0]

    @property
    def clients(self) -> tuple[Node, ...]:
        return self.with_role("client")

    @property
    def workers(self) -> tuple[Node, ...]:
        return self.with_role("worker")


@dataclass(frozen=True)
class Topology(Flat, Placed):
    """A variant placed on the hosts. Different names mean different topologies.

    `order`: position among the study's topologies. The first level of a factor is its baseline.

    `worker_stacks`: what programs of the workloads need on workers and clients, beyond the daemons' stacks.

    `jit`: the compilers of all JVMs: both, or only the first.
    """

    isolation: Isolation
    variant: Variant
    replication: int
    base_port: int = 21000
    jit: Jit = "full"
    order: int = 0
    worker_stacks: tuple[str, ...] = ()
    existing: ClassVar[None] = None

    @property
    def store(self) -> Store:
        return self.variant.store

    @property
    def levels(self) -> Mapping[str, str]:
        """Name of the level of each factor that has named levels."""
        return self.variant.levels

    @property
    def configuration(self) -> Configuration:
        """What the study sets of daemons."""
        return self.variant.configuration

    @property
    def java(self) -> int | None:
        """The feature release of Java that the study chooses; None: any."""
        return self.variant.versions.java

    @property
    def table_format(self) -> str:
        """What decides the contents and size of a table's store files, beside its rows."""
        return " ".join((self.variant.versions.hbase, *self.configuration.table.arguments))

    @property
    def declared(self) -> dict[str, str]:
        """Everything by which a study may make topologies differ: dotted key -> value.

        A difference between two disclosures that these keys explain was declared; any other was not.
        """
        return self.variant.declared

    def in_memory_mib(self, host: Host) -> dict[str, int]:
        """Folders in the host's memory that caches lie in, and the MiB that they take there."""
        found: dict[str, int] = {}
        cache = self.configuration.block_cache
        for node in self.workers:
            if node.host == host.name and isinstance(node.cache_disk, MemoryFolder):
                path = node.cache_disk.path
                size_mib = node.regionservers * cache.size_mib if cache else 0
                size_mib += self.configuration.hdfs_cache_mib
                found[path] = found.get(path, 0) + size_mib
        return found

    @property
    def workers_are_clients(self) -> bool:
        """Clients of HBase also run on workers."""
        return "ycsb" in self.worker_stacks


@dataclass(frozen=True)
class ExistingTopology(Existing, Placed):
    """The one client of an existing cluster, on this machine.

    `levels`: the cluster's name, where a study compares several, or an endpoint's store. Density, disks and
    replication of others' clusters are not here: nobody knows them but by what `existing` declares.
    """

    existing: ExistingCluster
    store: Store = field(default_factory=default_store)
    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    order: int = 0
    isolation: ClassVar[Isolation] = Isolation.UNKNOWN
    java: ClassVar[None] = None
    jit: ClassVar[Jit] = "full"
    table_format: ClassVar[str] = ""

    @property
    def configuration(self) -> Configuration:
        """A study sets the attributes of its own tables on an existing cluster, and nothing else."""
        return Configuration(table=self.existing.table)


AnyTopology = Topology | ExistingTopology
