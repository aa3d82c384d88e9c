"""Heaps of a node's daemons: the RegionServers share the remaining memory evenly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.memory import (
    OVERHEAD_MIB,
    daemon_heaps,
    master_reserve_mib,
    worker_minimum_mib,
)
from tests.support.topologies import local, physical, worker


def test_heaps_of_a_master_and_a_worker() -> None:
    master, _, first, _ = local().nodes
    assert daemon_heaps(master) == {
        "namenode": 256, "resourcemanager": 256, "zookeeper": 128, "hmaster": 256
    }  # fmt: skip
    assert sum(daemon_heaps(master).values()) + 4 * OVERHEAD_MIB == master_reserve_mib()
    # 2016 - 512 of containers - 2 x (128 + 160) - 160
    assert daemon_heaps(first) == {"datanode": 128, "nodemanager": 128, "regionserver": 768}


def test_a_client_has_no_daemon_heap() -> None:
    assert daemon_heaps(local().client) == {}


def test_regionservers_share_evenly() -> None:
    node = replace(worker("w"), memory_mib=2000, regionservers=2)
    assert daemon_heaps(node)["regionserver"] == (2000 - 512 - 576) // 2 - 160


def test_a_node_that_is_master_and_worker_reserves_memory_for_both() -> None:
    node = replace(worker("w"), roles=("master", "worker"), memory_mib=4096)
    alone = replace(node, roles=("worker",))
    difference = daemon_heaps(alone)["regionserver"] - daemon_heaps(node)["regionserver"]
    assert difference == master_reserve_mib()


def test_the_minimum_memory_of_a_worker_is_exact() -> None:
    least = worker_minimum_mib(2) + 512
    node = replace(worker("w"), memory_mib=least, regionservers=2)
    assert daemon_heaps(node)["regionserver"] == 256
    with pytest.raises(InputError) as caught:
        daemon_heaps(replace(node, memory_mib=least - 1))
    assert f"give it {least} MiB" in caught.value.remedy
    assert caught.value.where == "node 'w'"


def test_the_physical_example_fits() -> None:
    for node in physical().nodes:
        assert all(heap > 0 for heap in daemon_heaps(node).values())
