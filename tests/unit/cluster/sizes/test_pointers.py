"""Heaps of all variants are on one side of 32 GiB, from which on the JVM compresses no pointers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from density_study.analysis.findings.unequal_hosts import unequal_hosts
from density_study.cluster.model.configuration import Configuration, Jvm
from density_study.cluster.model.dividing.pointers import on_one_side
from density_study.cluster.model.dividing.sizing import sizing_of
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import COMPRESSED_BELOW_MIB, regionserver_heaps_mib
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from tests.support.topologies import layout_of, with_variant

GIB = 1024


def placed(densities: Sequence[int], *workers_gib: int) -> tuple[Topology, ...]:
    disks = (Disk("/data", "flash"),)
    hosts = [Host("m", "192.0.2.1", 16, 64 * GIB, disks, ("master", "client"))]
    hosts += [
        Host(f"h{number}", f"192.0.2.{number + 1}", 64, gib * GIB, disks)
        for number, gib in enumerate(workers_gib, 1)
    ]
    sizing = sizing_of(hosts)
    variants = [Variant(vms, 1, "flash", sizing=sizing) for vms in densities]
    return place(hosts, variants, layout_of("local"))


def sums_mib(topology: Topology) -> dict[str, int]:
    """Of all heaps of each host."""
    heaps = regionserver_heaps_mib(topology)
    return {
        host: mib * sum(node.host == host for node in topology.workers)
        for host, mib in heaps.items()
    }


@pytest.mark.parametrize(
    ("densities", "workers_gib"),
    [
        ((1, 2), (64,)),
        ((0, 2), (96,)),
        ((1, 2, 4, 8), (250, 250)),
        ((1, 2), (96, 250)),
        ((1, 12), (503,)),
    ],
)
def test_heaps_divided_by_the_limit_take_one_share(
    densities: Sequence[int], workers_gib: Sequence[int]
) -> None:
    before = placed(densities, *workers_gib)
    assert any(unequal_hosts(*pair) for pair in combinations(before, 2))
    found = on_one_side(before)
    assert not any(unequal_hosts(*pair) for pair in combinations(found, 2))
    heaps = [mib for one in found for mib in regionserver_heaps_mib(one).values()]
    assert max(heaps) < COMPRESSED_BELOW_MIB
    assert max(heaps) > 0.95 * 31 * GIB, "no more than the limit asks for"
    for host, mib in sums_mib(found[0]).items():
        assert all(sums_mib(one)[host] == pytest.approx(mib, rel=0.01) for one in found)
    regions = {one.variant.sizing.g1_region_mib for one in found}
    assert len(regions) == 1
    assert regions == {8} or min(heaps) / max(regions) >= 400
    assert on_one_side(found) == found


@pytest.mark.parametrize(
    ("densities", "workers_gib"),
    [((1, 2), (32,)), ((1, 2), (250,)), ((4, 8), (62,)), ((1,), (62, 24))],
    ids=["below", "above", "small", "of one density"],
)
def test_heaps_on_one_side_are_left_alone(
    densities: Sequence[int], workers_gib: Sequence[int]
) -> None:
    found = placed(densities, *workers_gib)
    assert on_one_side(found) == found


def test_a_share_of_a_small_host_is_enough_for_a_heap() -> None:
    """12 % of 1.2 GiB is less than a RegionServer comes up with."""
    found = on_one_side(placed((1, 8), 250, 10))
    assert min(mib for one in found for mib in regionserver_heaps_mib(one).values()) == 256


def test_what_a_study_sets_is_left_alone() -> None:
    found = placed((1, 2), 64)
    zgc = Configuration(jvm={"regionserver": Jvm(collector="ZGC")})
    assert on_one_side(all_with := [with_variant(one, configuration=zgc) for one in found]) == (
        *all_with,
    )
    own = Configuration(jvm={"regionserver": Jvm(heap_mib=12 * GIB)})
    tiny = Configuration(jvm={"regionserver": Jvm(heap_mib=256)})
    *_, smallest = on_one_side([*found, with_variant(found[0], configuration=tiny)])
    assert regionserver_heaps_mib(smallest)["h1"] == 256
    assert smallest.variant.sizing.g1_region_mib == 8
    mixed = [found[0], with_variant(found[1], configuration=own)]
    assert on_one_side(mixed) == tuple(mixed)
    lower = replace(found[0].variant.sizing, regionserver_percent=50.0)
    assert regionserver_heaps_mib(with_variant(mixed[1], sizing=lower))["h1"] == 12 * GIB
