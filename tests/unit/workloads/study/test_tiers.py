"""`factors.tier`: short names of block caches; what cannot be measured here is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import MemoryFolder
from density_study.cluster.model.memory import daemon_heaps
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import _short_in_memory, disk_need_mib
from density_study.workloads.study.factors.tier import TIER, is_emulated
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.testdfsio.hdfs_policies import require_cacheable
from tests.support.topologies import local, with_variant

BASE = """
study: s
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK, disk_type: flash}]}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1]
"""
ALL = (
    "[heap, {offheap: 512 MiB}, {file: flash, size: 1 GiB}, {mmap: flash, size: 1 GiB}, "
    "{pmem: emulated, size: 256 MiB}]"
)


def study(tier: str, more: str = "") -> Study:
    return parse_study(f"{BASE}  tier: {tier}\n{more}", "s.yaml").study


def planned(tmp_path: Path, tier: str) -> Plan:
    (tmp_path / "s.yaml").write_text(f"{BASE.replace('DISK', str(tmp_path))}  tier: {tier}\n")
    return plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs").plan


def test_tiers_are_named_by_their_kind_place_and_size() -> None:
    factors = study(ALL).factors
    tiers = factors.of(TIER)
    assert {name: tier and tier.block_cache() for name, tier in tiers.items()} == {
        "heap": None,
        "offheap-512m": BlockCache("off-heap", 512),
        "file-flash-1024m": BlockCache("flash", 1024),
        "mmap-flash-1024m": BlockCache("flash", 1024, mapped=True),
        "pmem-emulated-256m": BlockCache("pmem", 256),
    }
    assert factors.levels("tier") == tuple(tiers)


def test_each_tier_is_a_variant_whose_memory_is_checked(tmp_path: Path) -> None:
    variants = planned(tmp_path, ALL).topologies
    assert [one.levels["tier"] for one in variants.values()] == list(
        study(ALL).factors.levels("tier")
    )
    engines = {one.variant.configuration.engine: one for one in variants.values()}
    assert set(engines) == {"heap", "offheap", "file", "mmap", "pmem"}
    off_heap = {name: one.variant.configuration.off_heap_mib for name, one in engines.items()}
    assert off_heap == {"heap": 0, "offheap": 512, "file": 0, "mmap": 0, "pmem": 256}
    (worker,) = engines["pmem"].workers
    assert worker.cache_disk == MemoryFolder()
    assert engines["pmem"].in_memory_mib(engines["pmem"].hosts[0]) == {"/dev/shm": 256}
    assert engines["offheap"].in_memory_mib(engines["offheap"].hosts[0]) == {}
    assert engines["pmem"].declared["configuration.block_cache"] == "pmem (emulated), 256 MiB"
    assert engines["mmap"].declared["configuration.block_cache"] == "flash (mapped), 1024 MiB"


@pytest.mark.parametrize("tier", ["{offheap: 4 GiB}", "{pmem: emulated, size: 4 GiB}"])
def test_memory_that_a_host_does_not_have_is_refused(tmp_path: Path, tier: str) -> None:
    with pytest.raises(InputError, match="4096 MiB of each RegionServer off-heap"):
        planned(tmp_path, f"[heap, {tier}]")


def test_a_folder_in_memory_must_hold_its_caches(tmp_path: Path) -> None:
    (host,) = (
        planned(tmp_path, "[heap, {pmem: emulated, size: 256 MiB}]")
        .topologies["v1-flash-heap"]
        .hosts
    )
    assert list(_short_in_memory(host, "/dev/shm", 256, 256)) == []
    (fault,) = _short_in_memory(host, "/dev/shm", 64, 256)
    assert "take 256 MiB of /dev/shm; 64 MiB are free" in fault.what


def test_only_files_on_disks_count_as_disk_space() -> None:
    plain = disk_need_mib(study("[heap, {offheap: 1 GiB}, {pmem: emulated, size: 1 GiB}]"))
    assert disk_need_mib(study("[{mmap: flash, size: 3 GiB}]")) == plain + 3072


HDFS = "[heap, {hdfs_pmem: emulated, size: 512 MiB}]"
DFSIO = "testdfsio: {modes: [MODE], files: 4, file_size: 64 MiB}"


def with_dfsio(tmp_path: Path, mode: str = "write, read", more: str = "") -> Plan:
    reads = DFSIO.replace("MODE", mode)
    text = BASE.replace("DISK", str(tmp_path)).replace("[{ycsb", f"[{{{reads}}}, {{ycsb")
    (tmp_path / "s.yaml").write_text(f"{text}  tier: {HDFS}\n{more}")
    return plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs").plan


def test_a_cache_of_hdfs_is_memory_of_the_node(tmp_path: Path) -> None:
    plan = with_dfsio(tmp_path)
    heap, cached = plan.topologies.values()
    assert cached.name == "v1-flash-hdfs-pmem-emulated-512m" and is_emulated(cached.levels["tier"])
    assert (
        heap.variant.configuration.hdfs_cache_mib,
        cached.variant.configuration.hdfs_cache_mib,
    ) == (0, 512)
    assert [node.memory_mib for node in cached.nodes] == [node.memory_mib for node in heap.nodes]
    plain, less = (
        daemon_heaps(variant.workers[0], variant.variant.configuration)
        for variant in (heap, cached)
    )
    assert plain["regionserver"] - less["regionserver"] == 512
    assert cached.workers[0].cache_disk == MemoryFolder()
    assert cached.in_memory_mib(cached.hosts[0]) == {"/dev/shm": 512}
    assert cached.declared["configuration.hdfs_cache"] == "pmem (emulated), 512 MiB"


def test_beside_the_cache_of_hdfs_testdfsio_runs_alone(tmp_path: Path) -> None:
    by_build: dict[str, set[str]] = {}
    for step in with_dfsio(tmp_path).trials:
        by_build.setdefault(step.build, set()).add(str(step.test_case and step.test_case.workload))
    assert by_build == {
        "b1-v1-flash-heap": {"testdfsio", "ycsb"},
        "b1-v1-flash-hdfs-pmem-emulated-512m": {"testdfsio"},
    }


def test_a_study_that_reads_nothing_through_the_cache_of_hdfs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only reads of TestDFSIO use it") as caught:
        study(HDFS)
    assert "key factors.tier[1].hdfs_pmem" in caught.value.where
    with pytest.raises(InputError, match="only reads of TestDFSIO use it"):
        with_dfsio(tmp_path, "write")


@pytest.mark.parametrize(
    ("mode", "file_mib", "says"),
    [
        ("read", 640, "mode read needs 640 MiB in HDFS's cache at once"),
        ("random", 64, "mode random needs 1024 MiB in HDFS's cache at once"),
    ],
)
def test_files_that_hdfs_cannot_cache_are_refused(
    tmp_path: Path, mode: str, file_mib: int, says: str
) -> None:
    dfsio = f"workloads: [{{testdfsio: {{modes: [{mode}], files: 16, file_size: {file_mib} MiB}}}}]"
    lines = [dfsio if line.startswith("workloads") else line for line in BASE.splitlines()]
    text = "\n".join(lines).replace("DISK", str(tmp_path))
    (tmp_path / "s.yaml").write_text(f"{text}\n  tier: {HDFS}\n")
    with pytest.raises(InputError, match=says):
        plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs")


def test_erasure_coded_files_are_not_cached() -> None:
    plain, cached = local(), with_variant(local(), configuration=Configuration(hdfs_cache_mib=512))
    require_cacheable("read", 1, "XOR-2-1-1024k", plain)
    with pytest.raises(InputError, match="does not hold erasure-coded files"):
        require_cacheable("read", 1, "XOR-2-1-1024k", cached)


def test_short_circuit_reads_would_pass_the_cache_of_hdfs(tmp_path: Path) -> None:
    more = (
        "  configuration: {a: {hdfs-site: {dfs.client.read.shortcircuit: true, "
        "dfs.client.use.legacy.blockreader.local: true}}}\n"
    )
    with pytest.raises(
        InputError, match="short-circuit reads open the files on the disk"
    ) as caught:
        with_dfsio(tmp_path, more=more)
    assert "factors.configuration.a.hdfs-site" in caught.value.where


def test_tiers_and_configurations_multiply() -> None:
    more = "  configuration: {a: {}, b: {hbase-site: {hbase.regionserver.handler.count: 60}}}\n"
    assert study("[heap, {offheap: 512 MiB}]", more).factors.variants_per_disk_type == 4


@pytest.mark.parametrize(
    ("tier", "key", "says"),
    [
        ("{hdfs_pmem: emulated}", "[0].hdfs_pmem", "hdfs_pmem needs a size"),
        ("{file: flash}", "[0].file", "file needs a size"),
        ("{offheap: 1 GiB, size: 1 GiB}", "[0].offheap", "write the size after offheap"),
        ("{offheap: 1 MiB}", "[0].offheap", "a block cache needs 64 MiB"),
        ("{pmem: emulated, size: 1 MiB}", "[0].size", "a block cache needs 64 MiB"),
        ("{pmem: /mnt/pmem, size: 1 GiB}", "[0].pmem", "write 'emulated'"),
        ("{file: flash, mmap: flash, size: 1 GiB}", "[0]", "not file and mmap"),
        ("disk", "[0]", "write 'heap', not 'disk'"),
        ("heap, heap", "", "duplicate tier: 'heap'"),
    ],
)
def test_faulty_tiers_are_refused(tier: str, key: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        study(f"[{tier}]")
    assert says in caught.value.what
    assert f"key factors.tier{key}" in caught.value.where


def test_a_block_cache_is_set_in_one_place() -> None:
    more = "  configuration: {a: {block_cache: {place: off-heap, size: 512 MiB}}}\n"
    with pytest.raises(InputError, match="configuration a has a block cache") as caught:
        study("[heap]", more)
    assert "factors.configuration.a.block_cache" in caught.value.where
