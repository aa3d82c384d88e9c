"""Properties of every placement: constant hardware, enough memory, nothing shared by accident."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cluster.model.errors import InputError
from cluster.model.host import Disk, Host
from cluster.model.memory import CONTAINER_MIB, worker_minimum_mib
from cluster.model.placement import Density, Layout, place, workers_mib
from cluster.model.topology import Topology

JSON = TypeAdapter(Topology)
LAYOUT = Layout("local", "process", 1, 21000)
DENSITIES = st.lists(
    st.builds(Density, st.integers(0, 8), st.integers(1, 3)), min_size=1, max_size=4, unique=True
)
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


def placed(owned: list[Host], densities: list[Density]) -> tuple[Topology, ...]:
    try:
        return place(owned, densities, ["flash"], LAYOUT)
    except InputError:
        assume(False)
        raise


@given(hosts(), DENSITIES)
def test_hardware_is_constant_across_densities(owned: list[Host], densities: list[Density]) -> None:
    topologies = placed(owned, densities)
    for name in [h.name for h in owned if "worker" in h.roles]:
        containers = {sum(n.container_mib for n in t.workers if n.host == name) for t in topologies}
        assert len(containers) == 1  # as many maps can run at once at every density
        for topology in topologies:
            share = [n.memory_mib for n in topology.workers if n.host == name]
            assert len(set(share)) == 1
            owner = next(h for h in owned if h.name == name)
            assert workers_mib(owner) - len(share) < sum(share) <= workers_mib(owner)


@given(hosts(), DENSITIES)
def test_every_node_has_room_for_its_daemons_and_whole_containers(
    owned: list[Host], densities: list[Density]
) -> None:
    for topology in placed(owned, densities):
        for node in topology.workers:
            least = worker_minimum_mib(node.regionservers) + node.container_mib
            assert node.memory_mib >= least
            assert node.container_mib % CONTAINER_MIB == 0
            assert node.disk is not None and node.disk.medium == "flash"


@given(hosts(), DENSITIES)
def test_names_are_unique_and_roles_complete(owned: list[Host], densities: list[Density]) -> None:
    topologies = placed(owned, densities)
    assert len({t.name for t in topologies}) == len(topologies)
    for topology in topologies:
        assert len({n.name for n in topology.nodes}) == len(topology.nodes)
        assert topology.master.roles == ("master",)
        assert topology.client.roles == ("client",)
        density = max(topology.vms_per_host, 1)
        assert len(topology.workers) == density * (len(owned) - 1)


@given(hosts(), DENSITIES)
def test_a_topology_survives_json(owned: list[Host], densities: list[Density]) -> None:
    for topology in placed(owned, densities):
        assert JSON.validate_json(JSON.dump_json(topology)) == topology


@given(st.integers(2300, 6000), st.integers(1, 8))
def test_a_refusal_names_an_amount_that_fits(memory_mib: int, nodes: int) -> None:
    def host(memory: int) -> list[Host]:
        roles = ("master", "worker", "client")
        return [Host("h", "127.0.0.1", 2, memory, (Disk("/a", "flash"),), roles)]  # type: ignore[arg-type]

    density = [Density(nodes, 1)]
    try:
        place(host(memory_mib), density, ["flash"], LAYOUT)
    except InputError as error:
        remedy = error.remedy
    else:
        return
    fits, needed = (int(word) for word in remedy.replace("(", " ").split() if word.isdigit())
    place(host(needed), density, ["flash"], LAYOUT)
    with pytest.raises(InputError):
        place(host(needed - 1), density, ["flash"], LAYOUT)
    assert fits < nodes


@given(
    st.integers(2300, 20000),
    st.lists(st.integers(1, 16), min_size=1, max_size=4, unique=True),
)
def test_a_refusal_of_several_densities_names_one_of_them_and_its_remedy_works(
    memory_mib: int, levels: list[int]
) -> None:
    def host(memory: int) -> list[Host]:
        roles = ("master", "worker", "client")
        return [Host("h", "127.0.0.1", 2, memory, (Disk("/a", "flash"),), roles)]  # type: ignore[arg-type]

    densities = [Density(level, 1) for level in levels]
    try:
        place(host(memory_mib), densities, ["flash"], LAYOUT)
    except InputError as error:
        fault = error
    else:
        return
    assert fault.key == ("factors", "vms_per_host")
    assert f", {max(levels)} of vms_per_host" in fault.where
    fits, needed = (int(word) for word in fault.remedy.split() if word.isdigit())
    place(host(needed), densities, ["flash"], LAYOUT)
    with pytest.raises(InputError):
        place(host(needed - 1), densities, ["flash"], LAYOUT)
    assert fits < max(levels)
    if fits:
        smaller = [Density(level, 1) for level in {*(n for n in levels if n < fits), fits}]
        place(host(memory_mib), smaller, ["flash"], LAYOUT)
