"""What a configuration sets is in effect in the daemons, and what it leaves behind is removed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.configuration import BlockCache, Configuration, Jvm
from density_study.cluster.model.host import Disk
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.stacks import ensure_stacks
from tests.live.factors.one_build import SHORT_CIRCUIT, Build, built, variant
from tests.live.support.builds import open_build
from tests.live.support.java_client import MORTAL

pytestmark = pytest.mark.timeout(900)


def command_of(build: Build, name: str) -> list[str]:
    process = next(one for one in build.cluster.processes if one.name == name)
    return Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")


def on_another_disk(folder: Path) -> Topology:
    cache = Configuration(block_cache=BlockCache("flash", 256))
    placed = variant(folder, configuration=cache)
    fast = Disk(str(folder / "fast"), "flash")
    nodes = tuple(replace(n, cache_disk=fast if n.regionservers else None) for n in placed.nodes)
    return replace(placed, nodes=nodes)


def test_properties_collector_and_flags_are_in_effect(tmp_path: Path) -> None:
    mine = Configuration(
        {"hbase-site": {"hbase.regionserver.handler.count": "17"},
         "hdfs-site": {"dfs.datanode.handler.count": "13"},
         "yarn-site": {"yarn.resourcemanager.client.thread-count": "7"}},
        {"regionserver": Jvm(768, "ZGC", ("-XX:+AlwaysPreTouch",)), "namenode": Jvm(collector="G1")},
    )  # fmt: skip
    with built(tmp_path, variant(tmp_path, configuration=mine)) as build:
        in_effect = build.cluster.disclosure["in_effect"]
        assert in_effect["w1/regionserver-1"] == {"hbase.regionserver.handler.count": "17"}
        assert in_effect["w1/datanode"] == {"dfs.datanode.handler.count": "13"}
        assert in_effect["m1/resourcemanager"] == {"yarn.resourcemanager.client.thread-count": "7"}
        server = command_of(build, "regionserver-1")
        assert {"-XX:+UseZGC", "-Xmx768m", "-XX:+AlwaysPreTouch"} <= set(server)
        assert "-XX:+UseG1GC" in command_of(build, "namenode")


def test_an_off_heap_cache_is_allocated_beside_the_heap(tmp_path: Path) -> None:
    cache = Configuration(block_cache=BlockCache("off-heap", 512))
    with built(tmp_path, variant(tmp_path, configuration=cache)) as build:
        (address,) = build.cluster.endpoints.all("regionserver.http").values()
        direct = build.bean(address, "java.nio:type=BufferPool,name=direct")
        assert direct["TotalCapacity"] >= 512 * 2**20
        log = next((build.cluster.site.root / "logs").rglob("regionserver-1.log")).read_text()
        assert "bucketcache" in log.lower()


def test_a_cache_file_lies_on_its_disk_and_goes_with_the_build(tmp_path: Path) -> None:
    placed = on_another_disk(tmp_path)
    with built(tmp_path, placed) as build:
        (file,) = (tmp_path / "fast").rglob("block-cache-regionserver-1*")
        assert file.stat().st_size == 256 * 2**20
        assert str(tmp_path / "fast") in build.cluster.disclosure["disks"]
    assert list((tmp_path / "fast").rglob("*")) == []


def test_short_circuit_reads_bypass_the_datanode(tmp_path: Path) -> None:
    quick = Configuration({"hdfs-site": SHORT_CIRCUIT})
    with built(tmp_path, variant(tmp_path, configuration=quick)) as build:
        build.dfsio("write")
        build.dfsio("read")
        assert build.short_circuited() > 0


def test_a_killed_build_leaves_no_cache_file_and_touches_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    canary = tmp_path / "fast" / "canary"
    canary.write_text("foreign")
    owner = subprocess.Popen([*MORTAL, "sleep", "900"])
    placed = on_another_disk(tmp_path)
    site, journal = open_build(tmp_path, owner.pid)
    cluster = bring_up(site, placed, ensure_stacks(), journal, deadline_s=400)
    assert list((tmp_path / "fast").rglob("block-cache-*"))
    for process in cluster.processes:
        os.kill(process.pid, 9)
    owner.kill()
    owner.wait()
    reap(tmp_path / "runs")
    assert [path.name for path in (tmp_path / "fast").rglob("*")] == ["canary"]
    assert canary.read_text() == "foreign"
