"""Shares of a node fit into it at every density, and are the same for the host; else one error says why."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from density_study.cluster.model.configuration import BlockCache, Configuration, Jvm
from density_study.cluster.model.dividing.sizing import Sizing, sizing_of
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import OVERHEAD_MIB, daemon_heaps, master_reserve_mib
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from tests.support.topologies import layout_of

LAYOUT = layout_of("local")
DENSITIES = st.lists(st.integers(0, 8), min_size=1, max_size=4, unique=True)
PERCENT = st.integers(1, 100)


@st.composite
def hosts(draw: st.DrawFn) -> list[Host]:
    """4 to 256 cores, 8 GiB to 2 TiB, 1 to 24 drives."""
    drives = tuple(Disk(f"/data/{n}", "flash") for n in range(draw(st.integers(1, 24))))
    cores = draw(st.integers(4, 256))
    sizes = draw(st.lists(st.integers(8 * 1024, 2 * 1024 * 1024), min_size=1, max_size=3))
    workers = [Host(f"h{n}", f"192.0.2.{n}", cores, mib, drives) for n, mib in enumerate(sizes, 1)]
    return [Host("m", "192.0.2.99", 8, 16384, drives, ("master", "client")), *workers]


def shared(heap: float | None, cache: float | None) -> Configuration:
    jvm = {} if heap is None else {"regionserver": Jvm(heap_percent=heap)}
    block_cache = None if cache is None else BlockCache("off-heap", 0, percent=cache)
    return Configuration(jvm=jvm, block_cache=block_cache)  # type: ignore[arg-type]


def placed(owned: list[Host], densities: list[int], own: Configuration) -> tuple[Topology, ...]:
    sizing = sizing_of(owned)
    variants = [Variant(vms, 1, "flash", configuration=own, sizing=sizing) for vms in densities]
    return place(owned, variants, LAYOUT)


def taken_mib(topology: Topology, sizing: Sizing) -> list[tuple[int, int]]:
    """(what the node's JVMs and containers take, its memory) of each worker."""
    own = topology.variant.configuration
    found = []
    for node in topology.workers:
        heaps = daemon_heaps(node, own, sizing)
        server_mib = heaps.pop("regionserver") + OVERHEAD_MIB + own.off_heap_mib
        others_mib = sum(heaps.values()) + len(heaps) * OVERHEAD_MIB
        whole_mib = node.regionservers * server_mib + others_mib + node.container_mib
        found.append((whole_mib, node.memory_mib))
    return found


@given(hosts(), DENSITIES, PERCENT | st.none(), PERCENT | st.none())
def test_shares_fit_or_one_error_says_what_would(
    owned: list[Host], densities: list[int], heap: float | None, cache: float | None
) -> None:
    own = shared(heap, cache)
    try:
        topologies = placed(owned, densities, own)
    except InputError as error:
        words = f"{error}"
        if "leave too little" in words and "take at most" in error.remedy:
            percent = int(error.remedy.split("at most ")[1].split("%")[0])
            assert percent < (heap or 0) + (cache or 0)
        return
    for topology in topologies:
        for whole_mib, memory_mib in taken_mib(topology, topology.variant.sizing):
            assert whole_mib <= memory_mib
        assert topology.declared.get("configuration.jvm.regionserver.heap") == (
            None if heap is None else f"{heap:g}% of node"
        )


@given(hosts(), DENSITIES, st.integers(1, 30), st.integers(1, 30))
def test_a_host_gives_the_same_at_every_density(
    owned: list[Host], densities: list[int], heap: int, cache: int
) -> None:
    try:
        topologies = placed(owned, densities, shared(heap, cache))
    except InputError:
        assume(False)
        raise
    for name in {node.host for node in topologies[0].workers}:
        sums = []
        for topology in topologies:
            own = topology.variant.configuration
            nodes = [node for node in topology.workers if node.host == name]
            assert own.block_cache is not None
            heap_mib = own.of("regionserver").heap_mib or 0
            sums.append(len(nodes) * (heap_mib + own.block_cache.size_mib))
        # each of at most eight nodes rounds down to whole MiB, as does its part of the host
        assert max(sums) - min(sums) <= 2 * 8


@given(st.integers(8, 2048), st.integers(1, 4))
def test_the_named_percentage_works(gib: int, nodes: int) -> None:
    disk = (Disk("/a", "flash"),)
    owned = [Host("h", "127.0.0.1", 8, gib * 1024, disk, ("master", "worker", "client"))]
    assume(gib * 1024 > 2 * master_reserve_mib(sizing=sizing_of(owned)) + 8192)
    try:
        placed(owned, [nodes], shared(100, None))
    except InputError as error:
        assume("take at most" in error.remedy)
        percent = int(error.remedy.split("at most ")[1].split("%")[0])
    placed(owned, [nodes], shared(percent, None))


def test_a_share_is_in_the_variants_name_as_a_level_alone() -> None:
    own = shared(25, 50)
    variant = Variant(1, 1, "flash", configuration=own, levels={"configuration": "expert"})
    assert variant.name() == replace(variant, configuration=own.on_node(1000, 2)).name()
    assert own.on_node(1000, 2).block_cache == BlockCache("off-heap", 250, percent=50)
