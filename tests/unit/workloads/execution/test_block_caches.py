"""What block caches did, from two readings of the RegionServers' counters. Made-up answers of a server."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.workloads.execution import block_caches
from density_study.workloads.execution.block_caches import (
    CachesReading,
    caches_between,
    has_tier,
    read_caches,
)
from tests.support.topologies import local, with_variant

MIB = 2**20
SERVERS = {"w1/regionserver-1": "a:1", "w2/regionserver-1": "b:2"}
OFF_HEAP = Configuration(block_cache=BlockCache("off-heap", 512))


def cluster(configuration: Configuration = OFF_HEAP, **levels: str) -> Cluster:
    topology = with_variant(local(2), configuration=configuration, levels=levels)
    endpoints = Endpoints({"regionserver.http": SERVERS})
    return SimpleNamespace(topology=topology, endpoints=endpoints)  # type: ignore[return-value]


class Server:
    """Answers as a RegionServer does."""

    def __init__(self, engine: str = "offheap", direct_mib: int = 600, mapped_mib: int = 0) -> None:
        self.hits, self.engine, self.dead = 1000, engine, ""
        self.pools = {"direct": direct_mib, "mapped": mapped_mib}

    def __call__(self, url: str) -> Any:
        if self.dead and self.dead in url:
            raise OSError("connection refused")
        if "BufferPool" in url:
            pools = [{"Name": name, "TotalCapacity": n * MIB} for name, n in self.pools.items()]
            return {"beans": pools}
        if "/conf" in url:
            engine = {"key": "hbase.bucketcache.ioengine", "value": self.engine}
            return {
                "properties": [{"key": "other", "value": "x"}, *([engine] if self.engine else [])]
            }
        counters = {
            "l1CacheHitCount": 10 * self.hits,
            "l1CacheMissCount": 1,
            "l2CacheHitCount": self.hits,
            "l2CacheMissCount": self.hits // 2,  # each of them twice
            "blockCacheEvictionCount": 7,
            "l1CacheSize": 7 * MIB,
            "l2CacheSize": 100 * MIB,
        }
        return {"beans": [counters]}


def test_growth_is_summed_over_the_servers() -> None:
    server, one = Server(), cluster()
    before = read_caches(one, server)
    server.hits = 1400
    found = caches_between(one, before, read_caches(one, server))
    assert (found.l1_hits, found.l1_misses) == (8000, 0)
    assert (found.l2_hits, found.l2_misses, found.evictions) == (800, 200, 0)
    assert found.declared == "offheap"
    assert found.engines == dict.fromkeys(SERVERS, "offheap")
    assert (found.size_mib, found.used_mib, found.faults) == (512, 200.0, ())


def test_a_server_that_does_not_answer_makes_the_numbers_unknown() -> None:
    server, one = Server(), cluster()
    before = read_caches(one, server)
    server.dead = "b:2"
    found = caches_between(one, before, read_caches(one, server))
    assert found.engines == {"w1/regionserver-1": "offheap", "w2/regionserver-1": None}
    assert found.l2_hits is found.evictions is found.used_mib is None
    assert "w2/regionserver-1 does not show" in found.faults[0]


def test_a_variant_without_a_tier_counts_its_blocks_too() -> None:
    """What a server keeps blocks in is then its own affair."""
    server, plain = Server("offheap"), cluster(Configuration())
    before = read_caches(plain, server)
    server.hits = 1400
    found = caches_between(plain, before, read_caches(plain, server))
    assert (found.l1_hits, found.l1_misses, found.evictions) == (8000, 0, 0)
    assert (found.declared, found.engines, found.faults) == (None, {}, ())


def test_a_wrong_engine_is_known_where_the_size_is_not_shown() -> None:
    plain = cluster(Configuration(), tier="heap")

    def server(url: str) -> Any:
        answer = Server("offheap")(url)
        for bean in answer.get("beans", ()):
            bean.pop("l1CacheSize", None)
        return answer

    before = read_caches(plain, server)
    found = caches_between(plain, before, read_caches(plain, server))
    assert found.declared == "heap" and set(found.engines.values()) == {"offheap"}
    assert found.used_mib is None and "l1CacheSize" in found.faults[0]


@pytest.mark.parametrize(("without", "known"), [(2, True), (20, False)])
def test_metrics_that_stop_for_a_moment_are_looked_for_again(
    without: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, slept = [without], []
    monkeypatch.setattr(block_caches.time, "sleep", slept.append)

    def server(url: str) -> Any:
        if "sub=Server" in url and "a:1" in url and left[0]:
            left[0] -= 1
            return {"beans": []}
        return Server()(url)

    found = read_caches(cluster(), server)
    assert ("w1/regionserver-1" in found.engines) is known
    assert len(found.faults) == (not known) and len(slept) == (2 if known else 7)


def test_a_server_that_restarted_makes_the_numbers_unknown() -> None:
    server, one = Server(), cluster()
    before = read_caches(one, server)
    server.hits = 3
    assert caches_between(one, before, read_caches(one, server)).l2_hits is None


@pytest.mark.parametrize(
    ("server", "engine"),
    [
        (Server("offheap"), "offheap"),
        (Server("offheap", direct_mib=300), "offheap with 300 MiB"),
        (Server("file:/disk/x"), "file"),
        (Server("mmap:/disk/x", mapped_mib=512), "mmap"),
        (Server("pmem:/dev/shm/x"), "pmem with 0 MiB"),
        (Server(""), "heap"),
    ],
)
def test_the_engine_is_what_the_server_runs_with(server: Server, engine: str) -> None:
    assert set(read_caches(cluster(), server).engines.values()) == {engine}


@pytest.mark.parametrize(
    ("levels", "configuration", "expected"),
    [
        ({"tier": "heap"}, Configuration(), True),
        ({"configuration": "a"}, OFF_HEAP, True),
        ({"configuration": "a"}, Configuration(), False),
        ({}, Configuration(), False),
    ],
)
def test_only_variants_that_say_where_blocks_are_have_a_tier(
    levels: Mapping[str, str], configuration: Configuration, expected: bool
) -> None:
    assert has_tier(with_variant(local(1), levels=levels, configuration=configuration)) is expected


def test_readings_of_nothing_are_unknown() -> None:
    found = caches_between(cluster(), CachesReading(), CachesReading(faults=("x",)))
    assert set(found.engines.values()) == {None} and found.l1_hits is None
