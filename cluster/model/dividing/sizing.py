"""`Sizing`: what daemons and containers get by default, by the memory of a study's hosts. Pure.

The values, each with its source, are in `sizes.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from density_study.cluster.model.configuration import Collector, DaemonKind
from density_study.cluster.model.host import Host

MASTERS: tuple[DaemonKind, ...] = ("namenode", "resourcemanager", "zookeeper", "hmaster")
WORKERS: tuple[DaemonKind, ...] = ("datanode", "nodemanager")
_SMALL_OVERHEAD_MIB = 80
_OVERHEAD_SHARE = 0.2
"""Share of a container that is not heap, as by `mapreduce.job.heap.memory-mb.ratio`."""


@dataclass(frozen=True)
class Sizing:
    """Sizes that are the same in every variant of a study. A value that the study sets takes their place.

    `heaps_mib`: by kind of daemon, without RegionServers, which share the rest of their node. `collector`:
    that of the same daemons. `g1_region_mib` and `whole_heap` (its full size from the start) are those of
    RegionServers, and `regionserver_percent` is the share of a node that their heaps take at most.
    `container_percent`: share of the memory that daemons leave at the density that leaves
    least.
    """

    heaps_mib: Mapping[DaemonKind, int] = field(hash=False)
    collector: Collector
    g1_region_mib: int
    whole_heap: bool
    container_mib: int
    container_percent: float
    namenode_handlers: int
    regionserver_percent: float = 100.0

    @property
    def container_heap_mib(self) -> int:
        """The rest is what the JVM of a container takes beyond its heap."""
        beyond_mib = max(_SMALL_OVERHEAD_MIB, int(self.container_mib * _OVERHEAD_SHARE))
        return self.container_mib - beyond_mib

    def heaps_of(self, kinds: Sequence[DaemonKind]) -> dict[DaemonKind, int]:
        return {kind: self.heaps_mib[kind] for kind in kinds}


def sizing_of(hosts: Sequence[Host]) -> Sizing:
    """For a study's hosts: by the smallest that carries workers, and for the master's daemons by its own."""
    workers = _for_memory(min(host.memory_mib for host in hosts if "worker" in host.roles))
    master = _for_memory(next(host.memory_mib for host in hosts if "master" in host.roles))
    return replace(workers, heaps_mib={**workers.heaps_mib, **master.heaps_of(MASTERS)})


def _for_memory(memory_mib: int) -> Sizing:
    return next(sizing for least_mib, sizing in reversed(_sizes()) if memory_mib >= least_mib)


@cache
def _sizes() -> tuple[tuple[int, Sizing], ...]:
    """(least memory of a host in MiB, what it gets), in ascending order."""
    text = Path(__file__).with_name("sizes.toml").read_text(encoding="utf-8")
    sizes: list[dict[str, Any]] = tomllib.loads(text)["size"]
    return tuple((1024 * size.pop("least_gib"), Sizing(**size)) for size in sizes)


SMALLEST = _for_memory(0)


def sizing_before(memory_mib: int) -> Sizing:
    """For plans that record no sizes: what versions before them gave daemons where the largest host has this
    much memory. A plan keeps its sizes, so that all of its builds are alike."""
    g1_region_mib = 32 if memory_mib >= 128 * 1024 else 16 if memory_mib >= 64 * 1024 else 8
    return replace(SMALLEST, g1_region_mib=g1_region_mib, whole_heap=memory_mib >= 32 * 1024)
