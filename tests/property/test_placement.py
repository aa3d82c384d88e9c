"""Properties of every placement: constant hardware, enough memory, nothing shared by accident."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from density_study.cluster.model.configuration import PLAIN, BlockCache, Configuration, Jvm
from density_study.cluster.model.dividing.memory_shares import workers_mib
from density_study.cluster.model.dividing.sizing import SMALLEST
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import OVERHEAD_MIB, daemon_heaps, worker_minimum_mib
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from tests.support.topologies import layout_of

JSON = TypeAdapter(Topology)
LAYOUT = layout_of("local")
CONFIGURATIONS = {
    "plain": PLAIN,
    "off-heap": Configuration(block_cache=BlockCache("off-heap", 512)),
    "file": Configuration(block_cache=BlockCache("flash", 4096)),
    "pmem": Configuration(block_cache=BlockCache("pmem", 512)),
    "heaps": Configuration(jvm={"regionserver": Jvm(1024), "namenode": Jvm(512)}),
}
VARIANTS = st.lists(
    st.builds(
        lambda vms, servers, name: Variant(
            vms,
            servers,
            "flash",
            configuration=CONFIGURATIONS[name],
            levels={"configuration": name},
        ),
        st.integers(0, 8),
        st.integers(1, 3),
        st.sampled_from(sorted(CONFIGURATIONS)),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda variant: variant.name(),
)


def plain(vms: int) -> Variant:
    return Variant(vms, 1, "flash")


DISKS = st.lists(
    st.sampled_from([Disk("/a", "flash"), Disk("/b", "flash"), Disk("/c", "hdd")]),
    min_size=1,
    max_size=3,
    unique=True,
)


@st.composite
def hosts(draw: st.DrawFn) -> list[Host]:
    count = draw(st.integers(1, 3))
    memory = draw(st.integers(4096, 131072))
    disks = (*draw(DISKS), Disk("/z", "flash"))
    workers = [Host(f"h{n}", f"192.0.2.{n}", 8, memory, disks, ("worker",)) for n in range(count)]
    return [Host("m", "192.0.2.99", 8, 8192, disks, ("master", "client")), *workers]


def placed(owned: list[Host], variants: list[Variant]) -> tuple[Topology, ...]:
    try:
        return place(owned, variants, LAYOUT)
    except InputError:
        assume(False)
        raise


@given(hosts(), VARIANTS)
def test_hardware_is_constant_across_variants(owned: list[Host], variants: list[Variant]) -> None:
    topologies = placed(owned, variants)
    for name in [h.name for h in owned if "worker" in h.roles]:
        containers = {sum(n.container_mib for n in t.workers if n.host == name) for t in topologies}
        assert len(containers) == 1  # as many maps can run at once in every variant
        for topology in topologies:
            share = [n.memory_mib for n in topology.workers if n.host == name]
            assert len(set(share)) == 1
            owner = next(h for h in owned if h.name == name)
            assert (
                workers_mib(owner, variants) - len(share)
                < sum(share)
                <= workers_mib(owner, variants)
            )


@given(hosts(), VARIANTS)
def test_every_node_has_room_for_its_daemons_and_whole_containers(
    owned: list[Host], variants: list[Variant]
) -> None:
    for topology in placed(owned, variants):
        for node in topology.workers:
            daemons = worker_minimum_mib(node.regionservers, topology.variant.configuration)
            assert node.memory_mib >= daemons + node.container_mib
            assert node.container_mib % SMALLEST.container_mib == 0
            assert node.disk is not None and node.disk.disk_type == "flash"


@given(hosts(), VARIANTS)
def test_heaps_and_what_lies_beside_them_fit_into_the_node(
    owned: list[Host], variants: list[Variant]
) -> None:
    for topology in placed(owned, variants):
        beside_mib = OVERHEAD_MIB + topology.variant.configuration.off_heap_mib
        for node in topology.workers:
            heaps = daemon_heaps(node, topology.variant.configuration)
            servers_mib = node.regionservers * (heaps.pop("regionserver") + beside_mib)
            others_mib = sum(heaps.values()) + len(heaps) * OVERHEAD_MIB
            assert servers_mib + others_mib + node.container_mib <= node.memory_mib


@given(hosts(), VARIANTS)
def test_names_are_unique_and_roles_complete(owned: list[Host], variants: list[Variant]) -> None:
    topologies = placed(owned, variants)
    assert len({t.name for t in topologies}) == len(topologies)
    for topology in topologies:
        assert len({n.name for n in topology.nodes}) == len(topology.nodes)
        assert topology.master.roles == ("master",)
        assert topology.client.roles == ("client",)
        density = max(topology.variant.vms_per_host, 1)
        assert len(topology.workers) == density * (len(owned) - 1)


@given(hosts(), VARIANTS)
def test_a_topology_survives_json(owned: list[Host], variants: list[Variant]) -> None:
    for topology in placed(owned, variants):
        assert JSON.validate_json(JSON.dump_json(topology)) == topology


def host(memory_mib: int) -> list[Host]:
    roles = ("master", "worker", "client")
    return [Host("h", "127.0.0.1", 2, memory_mib, (Disk("/a", "flash"),), roles)]  # type: ignore[arg-type]


@given(st.integers(2300, 6000), st.integers(1, 8))
def test_a_refusal_names_an_amount_that_fits(memory_mib: int, nodes: int) -> None:
    density = [plain(nodes)]
    try:
        place(host(memory_mib), density, LAYOUT)
    except InputError as error:
        remedy = error.remedy
    else:
        return
    fits, needed = _amounts(remedy)
    place(host(needed), density, LAYOUT)
    with pytest.raises(InputError):
        place(host(needed - 1), density, LAYOUT)
    assert fits < nodes
    if fits:
        place(host(memory_mib), [plain(fits)], LAYOUT)


def _amounts(remedy: str) -> tuple[int, int]:
    """The nodes that fit, 0 if not even one does, and the MiB that all of them need."""
    *fits, needed = (int(word) for word in remedy.split() if word.isdigit())
    assert len(fits) == remedy.count("use at most")
    assert 0 not in fits
    return sum(fits), needed


@given(st.integers(2300, 20000), st.lists(st.integers(1, 16), min_size=1, max_size=4, unique=True))
def test_a_refusal_of_several_densities_names_one_of_them_and_its_remedy_works(
    memory_mib: int, levels: list[int]
) -> None:
    densities = [plain(level) for level in levels]
    try:
        place(host(memory_mib), densities, LAYOUT)
    except InputError as error:
        fault = error
    else:
        return
    assert fault.key == ("factors", "vms_per_host")
    assert f", {max(levels)} of vms_per_host" in fault.where
    fits, needed = _amounts(fault.remedy)
    place(host(needed), densities, LAYOUT)
    with pytest.raises(InputError):
        place(host(needed - 1), densities, LAYOUT)
    assert fits < max(levels)
    if fits:
        smaller = [plain(level) for level in {*(n for n in levels if n < fits), fits}]
        place(host(memory_mib), smaller, LAYOUT)
