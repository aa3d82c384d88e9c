"""HDFS's cache: which files it holds, and what the DataNodes' counters prove. Made-up answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.clients.hdfs import Block
from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Topology
from density_study.workloads.base.values import CacheUse
from density_study.workloads.testdfsio.hdfs_cache import (
    Fitting,
    cache_use,
    cached_share,
    fitting,
    read_datanodes,
)
from tests.support.topologies import local, with_variant

MIB = 2**20


def file(*nodes: str, mib: int = 32, blocks: int = 1) -> list[Block]:
    return [Block(mib * MIB, nodes)] * blocks


@pytest.mark.parametrize(
    ("files", "held"),
    [
        ([file("a"), file("b"), file("a")], (3, 96, 3)),
        ([file("a"), file("a"), file("a"), file("b")], (2, 64, 2)),  # in their order: b comes later
        ([file("a", "b"), file("a", "b"), file("a", "b")], (2, 128, 4)),
        ([file("a", blocks=2), file("a", blocks=2)], (1, 64, 2)),
        ([file("a", blocks=3)], (0, 0, 0)),
        ([], (0, 0, 0)),
    ],
)
def test_whole_files_as_long_as_no_datanode_holds_more_than_its_share(
    files: list[list[Block]], held: tuple[int, int, int]
) -> None:
    count, mib, replicas = held
    assert fitting(files, 64) == Fitting(count, mib * MIB, replicas)


def variant() -> Topology:
    return with_variant(local(2), configuration=Configuration(hdfs_cache_mib=64))


def says(cached_mib: int = 32, served_mib: int = 0, **other: int) -> dict[str, int]:
    return {
        "capacity_bytes": 9000 * MIB,
        "cached_bytes": cached_mib * MIB,
        "cached_blocks": cached_mib // 32,
        "failed_blocks": 0,
        "served_bytes": served_mib * MIB,
        **other,
    }


def use(after: dict[str, int], asked_mib: int = 64, read_mib: int = 1) -> CacheUse:
    before = {"w1/datanode": says(), "w2/datanode": says()}
    now = {"w1/datanode": after, "w2/datanode": says(served_mib=32)}
    return cache_use(variant(), before, now, asked_mib * MIB, read_mib * MIB)


def test_what_was_served_and_no_disk_read_is_from_the_cache() -> None:
    found = use(says(served_mib=40))
    assert (found.l2_hits, found.l2_misses) == (63 * MIB, MIB)
    assert (found.declared, found.size_mib, found.used_mib) == ("hdfs_pmem", 64, 64.0)
    assert set(found.engines.values()) == {"hdfs_pmem"}
    assert use(says(served_mib=40), read_mib=65).l2_hits == 0
    assert use(says(served_mib=3)).l2_hits == 0  # the client read past the DataNodes


@pytest.mark.parametrize(
    ("after", "engine"),
    [
        (says(0), "hdfs_pmem that holds 0 MiB"),
        (says(96), "hdfs_pmem that holds 96 MiB"),
        (says(capacity_bytes=10 * MIB), "hdfs_pmem with 10 MiB"),
    ],
)
def test_a_datanode_that_holds_something_else_is_foreign(
    after: dict[str, int], engine: str
) -> None:
    assert use(after).engines == {"w1/datanode": engine, "w2/datanode": "hdfs_pmem"}


def test_the_cached_share_counts_each_replica() -> None:
    assert cached_share({"a": says(32), "b": says(32)}, 64 * MIB, 2) == 0.5


def cluster() -> Cluster:
    pages = {"m1/namenode": "m:1", "w1/datanode": "a:1"}
    endpoints = Endpoints({"jmx": pages})
    return SimpleNamespace(topology=variant(), endpoints=endpoints)  # type: ignore[return-value]


def test_datanodes_are_asked_for_their_beans() -> None:
    def answer(url: str) -> Any:
        assert url.startswith("http://a:1/jmx")
        state = {"CacheCapacity": 9, "CacheUsed": 5, "NumBlocksCached": 1}
        return {"beans": [{**state, "NumBlocksFailedToCache": 0}, {"BytesRead": 7}]}

    (found,) = read_datanodes(cluster(), answer).values()
    assert found["capacity_bytes"] == 9 and found["served_bytes"] == 7
    with pytest.raises(StudyError, match="w1/datanode does not report its counters"):
        read_datanodes(cluster(), lambda _: {"beans": []})
