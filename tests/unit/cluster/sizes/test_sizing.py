"""What daemons and containers get by default follows the memory of the hosts, and never the density."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.dividing import sizing
from density_study.cluster.model.dividing.sizing import SMALLEST, sizing_of
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.placement import place
from density_study.cluster.model.variant import Variant
from tests.support.topologies import layout_of

GIB = 1024
DISKS = (Disk("/data", "flash"),)


def hosts(master_gib: int, *workers_gib: int) -> list[Host]:
    master = Host("m", "192.0.2.1", 16, master_gib * GIB, DISKS, ("master", "client"))
    workers = [
        Host(f"h{number}", f"192.0.2.{number + 1}", 64, gib * GIB, DISKS)
        for number, gib in enumerate(workers_gib, 1)
    ]
    return [master, *workers]


@pytest.mark.parametrize(
    ("gib", "datanode_mib", "container_mib", "container_heap_mib"),
    [
        (8, 128, 256, 176),
        (24, 128, 256, 176),
        (31, 128, 256, 176),
        (62, 512, 512, 410),
        (125, 1024, 1024, 820),
        (250, 1024, 1024, 820),
        (503, 2048, 1024, 820),
        (2015, 2048, 1024, 820),
    ],
)
def test_sizes_follow_the_memory_that_a_host_reports(
    gib: int, datanode_mib: int, container_mib: int, container_heap_mib: int
) -> None:
    found = sizing_of(hosts(gib, gib))
    assert found.heaps_mib["datanode"] == datanode_mib
    assert (found.container_mib, found.container_heap_mib) == (container_mib, container_heap_mib)


def test_the_master_follows_its_own_host_and_workers_the_smallest_of_theirs() -> None:
    found = sizing_of(hosts(16, 512, 250))
    assert found.heaps_mib["namenode"] == SMALLEST.heaps_mib["namenode"]
    assert found.heaps_mib["datanode"] == sizing_of(hosts(250, 250)).heaps_mib["datanode"]


@pytest.mark.parametrize("gib", [8, 64, 256, 512])
def test_a_density_changes_the_heap_of_regionservers_alone(gib: int) -> None:
    owned = hosts(gib, gib)
    given = sizing_of(owned)
    variants = [Variant(vms, 1, "flash", sizing=given) for vms in (0, 1, 2, 4)]
    heaps = []
    for topology in place(owned, variants, layout_of("local")):
        (node, *_) = topology.workers
        found = daemon_heaps(node, sizing=topology.variant.sizing)
        heaps.append(found.pop("regionserver"))
        assert found == {"datanode": given.heaps_mib["datanode"],
                         "nodemanager": given.heaps_mib["nodemanager"]}  # fmt: skip
    assert heaps[0] == heaps[1] > heaps[2] > heaps[3]


def test_each_value_has_a_source() -> None:
    text = Path(sizing.__file__).with_name("sizes.toml").read_text()
    values = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    assert values
    for line in values:
        assert "#" in line or line.startswith(("least_gib", "whole_heap")), line


def test_a_container_of_a_studys_own_has_a_heap_within_it() -> None:
    for container_mib in (256, 512, 1024, 4096):
        own = replace(SMALLEST, container_mib=container_mib)
        assert container_mib * 0.68 < own.container_heap_mib <= container_mib * 0.81
