"""`factors.tier`: short names of block caches; what cannot be measured here is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.arm import declared
from density_study.cluster.model.configuration import BlockCache
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import MemoryFolder
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import _check_in_memory, disk_need_mib
from density_study.workloads.spec.study import Study
from density_study.workloads.spec.study_file import parse_study

BASE = """
study: s
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK, medium: flash}]}
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
    assert factors.block_caches() == {
        "heap": None,
        "offheap-512m": BlockCache("off-heap", 512),
        "file-flash-1024m": BlockCache("flash", 1024),
        "mmap-flash-1024m": BlockCache("flash", 1024, mapped=True),
        "pmem-emulated-256m": BlockCache("pmem", 256),
    }
    assert factors.levels("tier") == tuple(factors.block_caches())


def test_each_tier_is_an_arm_whose_memory_is_checked(tmp_path: Path) -> None:
    arms = planned(tmp_path, ALL).topologies
    assert [one.levels["tier"] for one in arms.values()] == list(study(ALL).factors.levels("tier"))
    engines = {one.configuration.engine: one for one in arms.values()}
    assert set(engines) == {"heap", "offheap", "file", "mmap", "pmem"}
    off_heap = {name: one.configuration.off_heap_mib for name, one in engines.items()}
    assert off_heap == {"heap": 0, "offheap": 512, "file": 0, "mmap": 0, "pmem": 256}
    (worker,) = engines["pmem"].workers
    assert worker.cache_disk == MemoryFolder()
    assert engines["pmem"].in_memory_mib(engines["pmem"].hosts[0]) == {"/dev/shm": 256}
    assert engines["offheap"].in_memory_mib(engines["offheap"].hosts[0]) == {}
    assert declared(engines["pmem"])["configuration.block_cache"] == "pmem (emulated), 256 MiB"
    assert declared(engines["mmap"])["configuration.block_cache"] == "flash (mapped), 1024 MiB"


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
    _check_in_memory(host, "/dev/shm", 256, 256)
    with pytest.raises(InputError, match="take 256 MiB of /dev/shm; 64 MiB are free"):
        _check_in_memory(host, "/dev/shm", 64, 256)


def test_only_files_on_disks_count_as_disk_space() -> None:
    plain = disk_need_mib(study("[heap, {offheap: 1 GiB}, {pmem: emulated, size: 1 GiB}]"))
    assert disk_need_mib(study("[{mmap: flash, size: 3 GiB}]")) == plain + 3072


def test_tiers_and_configurations_multiply() -> None:
    more = "  configuration: {a: {}, b: {hbase-site: {hbase.regionserver.handler.count: 60}}}\n"
    assert study("[heap, {offheap: 512 MiB}]", more).factors.arms_per_medium == 4


@pytest.mark.parametrize(
    ("tier", "key", "says"),
    [
        ("{ram_disk: 1 GiB}", "[0].ram_disk", "needs the native library libhadoop.so"),
        ("{hdfs_cache: 1 GiB}", "[0].hdfs_cache", "needs the native library libhadoop.so"),
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
