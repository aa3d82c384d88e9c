"""How a host's drives are dealt out, by examples; `property/test_equal_hardware.py` has the rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import pytest

from density_study.cluster.model.dividing.drives import dealt_drives
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Isolation
from density_study.cluster.model.variant import Variant
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, layout_of, local


def dealt(drives: int, nodes: int, isolation: Isolation, *others: int) -> list[list[int]]:
    disks = [Disk(f"/data/{number}", "flash") for number in range(drives)]
    variants = [Variant(level, 1, "flash") for level in (nodes, *others)]
    found = dealt_drives(
        disks, variants[0], variants, Host("h", "192.0.2.1", 8, 2**14, tuple(disks)), isolation
    )
    return [[disks.index(disk) for disk in own] for own in found]


def test_a_node_has_drives_of_its_own_where_they_divide() -> None:
    assert dealt(4, 2, Isolation.CONTAINER) == [[0, 1], [2, 3]]
    assert dealt(4, 0, Isolation.HOST) == [[0, 1, 2, 3]]


def test_nodes_share_drives_evenly_where_they_do_not() -> None:
    assert dealt(12, 8, Isolation.CONTAINER) == [
        [0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11],
        [1, 2, 0], [4, 5, 3], [7, 8, 6], [10, 11, 9],
    ]  # fmt: skip
    assert dealt(4, 3, Isolation.PROCESS) == [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1]]
    assert dealt(2, 4, Isolation.PROCESS) == [[0], [1], [0], [1]]


def test_guests_have_as_many_data_disks_at_every_density() -> None:
    assert dealt(1, 1, Isolation.VM, 2, 4) == [[0, 0, 0, 0]]
    assert dealt(1, 4, Isolation.VM, 1, 2) == [[0], [0], [0], [0]]
    assert dealt(2, 2, Isolation.VM, 4) == [[0, 0], [1, 1]]
    assert dealt(12, 4, Isolation.VM, 0, 2) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_densities_that_suit_no_number_of_data_disks_are_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match=r"10 flash drives .* to 1, 3, 7 guests") as caught:
        dealt(10, 3, Isolation.VM, 1, 7)
    assert caught.value.remedy == "use the densities 1, 3, or others that divide the drives."
    assert dealt(10, 3, Isolation.VM, 1)
    with pytest.raises(InputError, match="60 flash drives") as caught:
        dealt(60, 1, Isolation.VM)
    assert caught.value.remedy == "use densities of 2 or more, or fewer drives."
    assert dealt(60, 2, Isolation.VM)


def test_an_emulated_drive_counts_wherever_it_is_among_the_others() -> None:
    disks = (Disk("/a", "flash"), Disk("/b", "flash", emulated=True))
    host = Host("h", "127.0.0.1", 2, 16384, disks, ("master", "worker", "client"))
    (topology,) = place((host,), [Variant(1, 1, "flash")], layout_of("local"))
    assert topology.name == "v1-flash-emulated"


def test_workers_on_the_same_drives_share_one_group_of_limits() -> None:
    disks = tuple(Disk(f"/data/{number}", "flash") for number in range(4))
    host = Host("h", "127.0.0.1", 2, 65536, disks, ("master", "worker", "client"))
    variants = [Variant(2, 1, "flash"), Variant(3, 1, "flash")]
    two, three = place((host,), variants, layout_of("local"))
    assert [node.lead_drive for node in two.workers] == ["/data/0", "/data/2"]
    assert {node.lead_drive for node in three.workers} == {"/data/0"}


def test_containers_of_yarn_write_to_every_drive_of_their_node() -> None:
    made = blueprint(local())
    places = replace(made.places, more_data={"w1": (PurePath("/data/2/w1"),)})
    files = render(replace(made, places=places)).files
    first = made.places.data["w1"]
    assert f">{first}/nodemanager,/data/2/w1/nodemanager<" in files["nodes/w1/yarn-site.xml"]
    assert "/data/2" not in files["nodes/w2/yarn-site.xml"]
