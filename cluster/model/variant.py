"""`Variant`: one level of every factor. Placed on hosts, it is a topology; findings compare two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from density_study.cluster.model.configuration import PLAIN, Configuration
from density_study.cluster.model.dividing.oversubscription import PLAIN as AS_IT_IS
from density_study.cluster.model.dividing.oversubscription import Oversubscription
from density_study.cluster.model.dividing.sizing import SMALLEST, Sizing
from density_study.cluster.model.host import DiskType
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.versions import VERSIONS, Versions

HOSTS_LEVEL = "-hosts"
"""Ends the names of the levels of the factor hosts: 2-hosts."""


@dataclass(frozen=True)
class Variant:
    """`levels`: the names of the levels of factors that have named levels: store, stack, ... `sizing`: what
    its daemons and containers get where the configuration says nothing, equal in all of a study.
    `worker_hosts`: how many are used; None: all."""

    vms_per_host: int
    regionservers_per_node: int
    disk_type: DiskType
    versions: Versions = VERSIONS
    configuration: Configuration = PLAIN
    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    store: Store = field(default_factory=default_store)
    network: Network = UNCHANGED
    sizing: Sizing = SMALLEST
    worker_hosts: int | None = None
    oversubscribed: Oversubscription = AS_IT_IS

    @property
    def nodes(self) -> int:
        """Nodes on a host; 0 VMs is the bare host, one node."""
        return max(self.vms_per_host, 1)

    def name(self, emulated: bool = False) -> str:
        """v2-flash, v0-r4-hdd-emulated, v1-flash-hadoop-3.4.1."""
        servers = f"-r{self.regionservers_per_node}" if self.regionservers_per_node > 1 else ""
        disk_type = f"{self.disk_type}{'-emulated' if emulated else ''}"
        return "-".join((f"v{self.vms_per_host}{servers}", disk_type, *self.levels.values()))

    @property
    def _further(self) -> tuple[tuple[str, str], ...]:
        names = ("native", "jars", "tarball", "zookeeper")
        return tuple((name, getattr(self.versions, name)) for name in names)

    @property
    def declared(self) -> dict[str, str]:
        """Everything by which a study may make variants differ: dotted key -> value."""
        store = self.store
        is_default = store == default_store()
        kept = {} if is_default else {"store": store.name, "store.durability": store.durability}
        java = {"stack.java": str(self.versions.java)} if self.versions.java else {}
        return {
            **({"hosts": str(self.worker_hosts)} if self.worker_hosts else {}),
            "vms_per_host": str(self.vms_per_host),
            "regionservers_per_node": str(self.regionservers_per_node),
            "disk_type": self.disk_type,
            "stack.hadoop": self.versions.hadoop,
            "stack.hbase": self.versions.hbase,
            **java,
            **{f"stack.{name}": value for name, value in self._further if value},
            **kept,
            **{f"configuration.{key}": value for key, value in self.configuration.declared()},
            **{
                f"oversubscribe.{key}": f"{value:g}"
                for key, value in asdict(self.oversubscribed).items()
                if value != 1
            },
            **{f"network.{key}": str(value) for key, value in self.network.declared().items()},
        }
