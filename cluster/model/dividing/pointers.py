"""Heaps of RegionServers on one side of 32 GiB in every variant of a study. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from density_study.cluster.model.memory import COMPRESSED_BELOW_MIB, regionserver_heaps_mib
from density_study.cluster.model.topology import Topology

_MOST_MIB = 31 * 1024
"""What operators give a JVM that is to compress pointers: the limit itself depends on its alignment."""
_LEAST_REGIONS, _LEAST_REGION_MIB = 400, 8
"""Regions that G1 has in the smallest heap, as in sizes.toml, and their least size."""


def on_one_side(topologies: Sequence[Topology]) -> tuple[Topology, ...]:
    """The topologies, with heaps that take a smaller share of each node where a host's would be below 32 GiB
    in one of them and not in another. The same share in all, so that a host's heaps have one sum at every
    density; the rest is page cache.

    Heaps that a study sets stay as they are, and so do all where ZGC, which compresses none, collects.
    """
    servers = [(one, one.configuration.of("regionserver")) for one in topologies]
    own = [one for one, jvm in servers if jvm.heap_mib is None]
    if any(jvm.collector == "ZGC" for _, jvm in servers) or not _is_divided(own):
        return tuple(topologies)
    # of all hosts: the share that suits a small one may divide a large one
    percent = min(_percent(one) for one in own)
    shared = [_with_sizing(one, regionserver_percent=percent) for one in topologies]
    smallest_mib = min(mib for one in shared for mib in regionserver_heaps_mib(one).values())
    whole_mib = max(_LEAST_REGION_MIB, smallest_mib // _LEAST_REGIONS)
    region_mib = 1 << whole_mib.bit_length() - 1
    return tuple(
        _with_sizing(one, g1_region_mib=min(one.variant.sizing.g1_region_mib, region_mib))
        for one in shared
    )


def _is_divided(topologies: Sequence[Topology]) -> bool:
    """Whether a host's heaps are on both sides."""
    sides = {
        (host, mib < COMPRESSED_BELOW_MIB)
        for one in topologies
        for host, mib in regionserver_heaps_mib(one).items()
    }
    return len({host for host, _ in sides}) < len(sides)


def _percent(topology: Topology) -> float:
    """The share that the heaps of each node may take, rounded down."""
    heaps = regionserver_heaps_mib(topology)
    tenths = (
        1000 * _MOST_MIB * node.regionservers // node.memory_mib
        for node in topology.workers
        if heaps.get(node.host, 0) >= COMPRESSED_BELOW_MIB
    )
    return min(tenths, default=1000) / 10


def _with_sizing(topology: Topology, **changes: Any) -> Topology:
    sizing = replace(topology.variant.sizing, **changes)
    return replace(topology, variant=replace(topology.variant, sizing=sizing))
