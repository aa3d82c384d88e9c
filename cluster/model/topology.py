"""`Topology` and `Node`: the placed nodes of one density and medium. Frozen values without side effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from density_study.cluster.model.configuration import PLAIN, Configuration
from density_study.cluster.model.given import GivenCluster
from density_study.cluster.model.host import Disk, Host, Medium, MemoryFolder, Role
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.versions import VERSIONS, Versions

Isolation = Literal["process", "host", "vm", "container"]
Jit = Literal["full", "c1"]
BARE: Mapping[str, str] = {
    "libvirt": "physical",
    "container": "local",
    "container-ssh": "physical",
}
"""The provider that divides hosts -> the provider of its control arm, the bare host, which is density 0."""


@dataclass(frozen=True)
class Node:
    """What daemons run on: a host itself, one of its VMs or containers, or (local) a group of processes.

    `memory_mib` is the node's share of its host. `container_mib` is the part YARN may give to
    containers; `regionservers` how many RegionServers the node carries. `disk` holds everything that
    the node writes, except that store, DataNode and YARN's containers write to `more_disks`, too. A guest has
    a data disk for each entry, and may have several on one drive. `cache_disk` holds its RegionServers' block
    caches and its DataNode's cache, where they are files.
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


@dataclass(frozen=True)
class Topology:
    """An arm placed on the hosts. Different names mean different topologies.

    `order`: position among the study's topologies. The first level of a factor is its baseline.

    `worker_stacks`: what programs of the workloads need on every worker, beyond the stacks of its daemons.

    `jit`: the compilers of all JVMs: both, or the first alone.

    `given`: a cluster that stands already. Then the one node is the client on this machine, and isolation,
    medium, density and replication mean nothing: its records say that they are unknown.
    """

    name: str
    provider: str
    isolation: Isolation
    medium: Medium
    vms_per_host: int
    regionservers_per_node: int
    replication: int
    hosts: tuple[Host, ...]
    nodes: tuple[Node, ...]
    base_port: int = 21000
    jit: Jit = "full"
    versions: Versions = VERSIONS
    configuration: Configuration = PLAIN
    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    order: int = 0
    given: GivenCluster | None = None
    store: Store = field(default_factory=default_store)
    network: Network = UNCHANGED
    worker_stacks: tuple[str, ...] = ()

    def with_role(self, role: Role) -> tuple[Node, ...]:
        """Nodes that carry `role`, in the order they were placed."""
        return tuple(node for node in self.nodes if role in node.roles)

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
    def on_this_machine(self) -> bool:
        """Its nodes see this machine's files under the same paths."""
        return self.provider in ("local", "container")

    @property
    def workers_are_clients(self) -> bool:
        """Clients of HBase run on workers, too."""
        return "ycsb" in self.worker_stacks

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
