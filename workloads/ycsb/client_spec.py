"""`Client`: the key `client` of YCSB workloads, the JVM and the connections of a load generator."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_serializer

from density_study.cluster.model.configuration import Collector
from density_study.cluster.model.memory import OVERHEAD_MIB, client_heap_mib
from density_study.cluster.model.topology import Node, Placed
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.values import Frozen

LEAST_CLIENT_HEAP_MIB = 128


class Client(Frozen):
    """One client process. Its own garbage collection is a fact of each trial (`client_gc_share`)."""

    heap: SizeMib | None = Field(
        None,
        description="heap of each client process: 4 GiB. Default: its part of 1/16 of the host's memory, "
        "from 512 MiB to 8 GiB for all clients of a host together",
    )
    collector: Collector = Field("Parallel", description="garbage collector of the client's JVM")
    connections: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        1, description="HBase: connections of a client process to each RegionServer"
    )

    @field_serializer("heap")
    def _with_unit(self, heap: int | None) -> str | None:
        """The heap as text, because a plan or a record is read by the rules of a study file."""
        return None if heap is None else f"{heap} MiB"

    def heap_mib(self, topology: Placed, node: Node, clients: int) -> int:
        """Heap of one of the trial's `clients`, which are dealt out to the client nodes in turn."""
        if self.heap is not None:
            return self.heap
        host = next(host for host in topology.hosts if host.name == node.host)
        on_node = -(-clients // len(topology.clients))
        all_mib = client_heap_mib(host.memory_mib) - (on_node - 1) * OVERHEAD_MIB
        return max(LEAST_CLIENT_HEAP_MIB, all_mib // on_node)

    def memory_flags(self, topology: Placed, node: Node, clients: int) -> tuple[str, ...]:
        """A heap of fixed size: one that grows would be collected more often at the start of a trial."""
        mib = self.heap_mib(topology, node, clients)
        name = self.collector if self.collector == "ZGC" else f"{self.collector}GC"
        return f"-Xms{mib}m", f"-Xmx{mib}m", f"-XX:+Use{name}"

    @property
    def knobs(self) -> dict[str, str | float]:
        """What differs from the defaults, by its key."""
        return {
            f"client.{name}": value
            for name, value in self.model_dump(exclude_defaults=True).items()
        }
