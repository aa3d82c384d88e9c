"""HDFS's cache in emulated persistent memory on real daemons: all reads of TestDFSIO come from it, by what
the DataNodes and the kernel say; a wrong tier is invalid; nothing of it is left."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.model.configuration import PLAIN, Configuration
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MemoryFolder
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import node_paths, provider_named
from density_study.jobs.first_look.look import first_look
from density_study.workloads.base.workload import Collected, TrialContext
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record, closed_records
from density_study.workloads.rows.raw.manifest_rows import cache_row
from density_study.workloads.testdfsio.data import DataSet
from density_study.workloads.testdfsio.hdfs_cache import empty, fill, read_datanodes
from density_study.workloads.testdfsio.modes import DfsioMode
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.testdfsio.workload import DfsioWorkload
from tests.live.factors.one_build import Build, built, variant
from tests.live.support.command import left_of, study_run
from tests.support.drafts import draft
from tests.support.topologies import with_variant

pytestmark = pytest.mark.timeout(900)
MIB = 2**20
SHM = Path("/dev/shm/density-study")
SPEC = """
study: live-hdfs-cache
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors:
  vms_per_host: [1]
  tier: [heap, {hdfs_pmem: emulated, size: 96 MiB}, {hdfs_pmem: emulated, size: 40 MiB}]
stack: {base_port: 27000}
workloads: [{testdfsio: {modes: [read], files: 2, file_size: 32 MiB}}]
monitor: {period: 1 s}
repetitions: 1
"""


def test_a_study_reads_from_the_cache_what_it_holds(tmp_path: Path) -> None:
    """HDFS without it, with all files in it, and with one of the two files in it."""
    spec, runs = tmp_path / "study.yaml", tmp_path / "runs"
    spec.write_text(SPEC)
    with study_run(runs, spec=spec) as child:
        output = child.communicate(timeout=800)[0]
        assert child.returncode == 0, output
    (journal,) = runs.glob("*/*/journal.jsonl")
    run = journal.parent
    assert left_of(run) == [] and not SHM.exists()
    by_tier = {one.topology.levels["tier"]: one for one in closed_records(run / "records").values()}
    for one in by_tier.values():
        look = first_look(run / "records" / one.trial)
        assert look.verdict == "valid", look
    assert by_tier["heap"].caches is None
    check(by_tier["heap"], from_disk_mib=64)
    check(by_tier["hdfs-pmem-emulated-96m"], from_disk_mib=0, from_cache_mib=64)
    check(by_tier["hdfs-pmem-emulated-40m"], from_disk_mib=32, from_cache_mib=32)
    assert "Builds differ where they should be equal" not in output


def check(one: Manifest, from_disk_mib: int, from_cache_mib: int = 0) -> None:
    assert one.cold is not None and one.cold.physical_read_bytes is not None
    assert one.cold.distinct_bytes_asked == from_disk_mib * MIB
    assert one.cold.physical_read_bytes / MIB == pytest.approx(from_disk_mib, abs=2)
    if from_cache_mib:
        assert one.caches is not None and set(one.caches.engines.values()) == {"hdfs_pmem"}
        assert one.caches.used_mib == from_cache_mib
        assert (one.caches.l2_hits or 0) / MIB == pytest.approx(from_cache_mib, abs=2)


def with_cache(folder: Path, size_mib: int) -> Topology:
    placed = variant(folder, configuration=Configuration(hdfs_cache_mib=size_mib))
    nodes = tuple(
        replace(node, cache_disk=MemoryFolder() if "worker" in node.roles else None)
        for node in placed.nodes
    )
    return replace(placed, nodes=nodes)


def context(build: Build, name: str) -> TrialContext:
    record = Record.open(build.folder / "records", draft(name))
    transport = provider_named("local").transport(build.cluster.site, build.journal)
    return TrialContext(build.cluster, transport, record, build.journal)


def case(mode: DfsioMode) -> DfsioTestCase:
    return DfsioTestCase(mode=mode, files=2, file_size_mib=32, read_size_bytes=2**20)


def in_page_cache_mib(build: Build) -> float:
    """Of the DataNode's blocks, without their checksums."""
    (worker,) = build.cluster.topology.workers
    (data,) = node_paths(build.cluster.site, build.cluster.topology).data_of(worker)
    blocks = [path for path in Path(data).rglob("blk_*[0-9]") if path.stat().st_size == 32 * MIB]
    assert len(blocks) == 2
    argv = ["fincore", "--bytes", "--noheadings", "--output", "RES", *map(str, blocks)]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return sum(map(int, said.split())) / MIB


def trial(
    build: Build, mode: DfsioMode, meanwhile: str = ""
) -> tuple[Collected, dict[str, object]]:
    """What a trial collects, and its row about the cache."""
    bench, workload = context(build, f"{mode}{meanwhile}"), DfsioWorkload()
    prepared = workload.prepare(bench, case(mode))
    if meanwhile:
        empty(bench)
    (client,) = workload.run(bench, case(mode))
    assert client.exit_code == 0
    collected = workload.collect(bench, case(mode), prepared)
    assert collected.faults == ()
    manifest = Manifest.model_construct(caches=collected.caches, test_case=case(mode), fault=None)  # type: ignore[call-arg]
    return collected, cache_row(manifest)


def test_every_mode_reads_from_the_cache_and_a_wrong_tier_shows(tmp_path: Path) -> None:
    with built(tmp_path, with_cache(tmp_path, 96)) as build:
        assert build.cluster.disclosure["emulated"] and SHM.exists()
        modes: tuple[DfsioMode, ...] = ("read", "random", "backward", "skip")
        for mode in modes:
            collected, row = trial(build, mode)
            print(mode, collected.cold, collected.caches, in_page_cache_mib(build))
            assert (row["tier"], row["foreign_tiers"], row["reads_tier"]) == ("hdfs_pmem", 0, True)
            assert row["l2_hits"]
            assert collected.cold is not None and collected.cold.distinct_bytes_asked == 0
            assert (collected.cold.physical_read_bytes or 0) < 2 * MIB
            assert in_page_cache_mib(build) < 1  # the files on the disk were not opened
        assert not any(one["cached_bytes"] for one in read_datanodes(build.cluster).values())
        _, row = trial(build, "read", meanwhile="-without")
        assert in_page_cache_mib(build) > 60  # the same look at a read from the disk
        assert row["foreign_tiers"] == 1 and row["tiers_in_use"] == "hdfs_pmem that holds 0 MiB"
        assert row["l2_hits"] == 0
        _too_small(build)
    assert not SHM.exists()


def _too_small(build: Build) -> None:
    """A variant that declares less than one file needs."""
    small = Configuration(hdfs_cache_mib=16)
    declared = with_variant(build.cluster.topology, configuration=small)
    bench = context(replace(build, cluster=replace(build.cluster, topology=declared)), "small")
    with pytest.raises(StudyError, match="0 of 2 files fit into 16 MiB"):
        fill(bench, DataSet(Hdfs(build.cluster), case("read")), whole=False)


def test_a_variant_that_has_no_cache_is_told_at_once(tmp_path: Path) -> None:
    with built(tmp_path, variant(tmp_path, configuration=PLAIN)) as build:
        declared = with_cache(tmp_path, 96)
        cluster = replace(build.cluster, topology=declared)
        bench = context(replace(build, cluster=cluster), "none")
        with pytest.raises(StudyError, match="datanode has 0 MiB of persistent memory, not 96"):
            DfsioWorkload().prepare(bench, case("read"))
