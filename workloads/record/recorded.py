"""What a record that others made says about its cluster, its clients and its files. None is "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from density_study.cluster.model.host import Disk, DiskType, Role
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import AnyTopology, Flat, Topology
from density_study.workloads.base.values import Frozen

UNKNOWN: Literal["unknown"] = "unknown"
IMPORTED: Literal["imported"] = "imported"
_DENSITY = ("vms_per_host", "regionservers_per_node")


@dataclass(frozen=True)
class RecordedHost:
    """A host that the map names. `roles`: empty if nobody knows them."""

    name: str
    cores: int | None = None
    memory_mib: int | None = None
    usd_per_hour: float | None = None
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class RecordedNode:
    """A node of a host; the host itself, if the map names no nodes."""

    name: str
    host: str
    roles: tuple[Role, ...] = ()
    cores: int | None = None
    memory_mib: int | None = None
    disk: Disk | None = None

    @property
    def disks(self) -> tuple[Disk, ...]:
        return (self.disk,) if self.disk else ()


@dataclass(frozen=True)
class RecordedVariant:
    """What is known of how its hosts are divided. The attributes are those of
    `cluster.model.variant.Variant`."""

    disk_type: DiskType | Literal["unknown"] = UNKNOWN
    vms_per_host: int | None = None
    regionservers_per_node: int | None = None
    levels: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class RecordedTopology(Flat):
    """A cluster that others built. The attributes are those of `cluster.model.topology.Topology`.

    `imported`: others also measured on it. `existing`: this program did.
    """

    provider: Literal["imported", "existing"]
    name: str
    isolation: Isolation = Isolation.UNKNOWN
    variant: RecordedVariant = RecordedVariant()
    replication: int | None = None
    hosts: tuple[RecordedHost, ...] = ()
    nodes: tuple[RecordedNode, ...] = ()
    order: int = 0

    @property
    def occupied(self) -> tuple[RecordedHost, ...]:
        """All hosts: which of them had nodes may be unknown."""
        return self.hosts

    @property
    def levels(self) -> Mapping[str, str]:
        return self.variant.levels

    @property
    def client(self) -> RecordedNode | None:
        return next((node for node in self.nodes if "client" in node.roles), None)

    @property
    def workers(self) -> tuple[RecordedNode, ...]:
        return tuple(node for node in self.nodes if "worker" in node.roles)

    @property
    def declared(self) -> dict[str, str]:
        """What a study that compares existing clusters says of this one: by the keys of
        `Topology.declared`."""
        if "cluster" not in self.levels:
            return {}
        facts = {name: getattr(self.variant, name) for name in _DENSITY}
        said = {"cluster": self.levels["cluster"], "disk_type": self.variant.disk_type, **facts}
        return {name: str(value) for name, value in said.items() if value not in (None, UNKNOWN)}


def recorded(topology: AnyTopology) -> RecordedTopology | Topology:
    """The topology as a record has it. For an existing cluster, only what is known."""
    if isinstance(topology, Topology):
        return topology
    existing, hosts = topology.existing, {host.name: host for host in topology.hosts}
    return RecordedTopology(
        provider="existing",
        name=topology.name,
        variant=RecordedVariant(
            existing.disk_type or UNKNOWN,
            existing.vms_per_host,
            existing.regionservers_per_node,
            topology.levels,
        ),
        hosts=(
            *(
                RecordedHost(host.name, host.cores, host.memory_mib, host.usd_per_hour, host.roles)
                for host in hosts.values()
            ),
            *(RecordedHost(host.name, host.cores, roles=host.roles) for host in existing.watched),
        ),
        nodes=(
            *(
                RecordedNode(node.name, node.host, node.roles, node.cores, node.memory_mib)
                for node in topology.nodes
            ),
            *(
                RecordedNode(host.name, host.name, host.roles, host.cores)
                for host in existing.watched
            ),
        ),
        order=topology.order,
    )


def is_joined(topology: RecordedTopology | Topology) -> bool:
    """Whether this program measured on a cluster that others built."""
    return isinstance(topology, RecordedTopology) and topology.provider != IMPORTED


class ImportedClient(Frozen):
    """A client process of others. Paths are relative to the record; empty: there is no such file."""

    name: str
    host: str | None = Field(None, description="host that it ran on")
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    start_epoch_s: float | None = None
    end_epoch_s: float | None = None
    operations_asked: int | None = None


class Source(Frozen):
    """Where a file of the record came from."""

    file: str = Field(description="path below the imported folder")
    sha256: str = Field(description="SHA-256 of the whole source file")
    first_line: int | None = Field(None, description="first line taken; null: the whole file")
    last_line: int | None = Field(None, description="last line taken")


class Imported(Frozen):
    """How a record that others made was read."""

    sources: dict[str, Source] = Field(description="by file of the record")
    given: tuple[str, ...] = Field((), description="facts that only the map gives")
    unknown: tuple[str, ...] = Field(
        (), description="facts that neither the files nor the map give"
    )
    accepted: dict[str, str] = Field(
        default={}, description="checks that the map accepts as unknown, and why"
    )
