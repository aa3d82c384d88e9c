"""Tiers on real daemons: the servers' own reports prove them, and hits follow the size of the working set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from density_study.analysis.validity.judge import Judgement, judge
from density_study.cluster.model.cluster import CLUSTER, Cluster, read_cluster
from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.cluster.model.host import MemoryFolder
from density_study.cluster.model.topology import Topology
from density_study.cluster.state.runtime import VARIABLE
from density_study.workloads.base.values import CacheUse
from density_study.workloads.execution.block_caches import caches_between, read_caches
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.rows.raw.manifest_rows import cache_row
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.factors.one_build import built, variant
from tests.live.support.command import environment, left_of, study_run, wait_for
from tests.support.repeating import repeating
from tests.support.topologies import with_variant

pytestmark = pytest.mark.timeout(900)
SHM = Path("/dev/shm/density-study")
BLOCK_BYTES = 65_536
FITS, EXCEEDS = 15_000, 70_000
SPEC = """
study: live-tiers
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors:
  vms_per_host: [1]
  tier: [{pmem: emulated, size: 64 MiB}]
stack: {base_port: 27000}
workloads:
  - ycsb: {records: [RECORDS], mixes: [c], threads: [8], duration: 25 s, warm_up: 5 s,
           warm_up_client: off, warm_up_daemons: off, request_distribution: uniform, regions_per_server: 1}
monitor: {period: 1 s}
repetitions: 1
"""


def with_cache(folder: Path, cache: BlockCache) -> Topology:
    placed = variant(folder, configuration=Configuration(block_cache=cache))
    if cache.place != "pmem":
        return placed
    nodes = tuple(
        replace(node, cache_disk=MemoryFolder() if node.regionservers else None)
        for node in placed.nodes
    )
    return replace(placed, nodes=nodes)


def declaring(cluster: Cluster, cache: BlockCache | None) -> Cluster:
    """The same daemons, of which the variant says something else."""
    configuration = Configuration(block_cache=cache)
    levels = {"tier": configuration.engine}
    topology = with_variant(cluster.topology, configuration=configuration, levels=levels)
    return replace(cluster, topology=topology)


def verdict(caches: CacheUse) -> Judgement:
    test_case = YcsbTestCase(mix="c", records=1000, threads=1, duration_s=30.0)
    row = cache_row(Manifest.model_construct(caches=caches, test_case=test_case, fault=None))  # type: ignore[call-arg]
    hits = row["l1_hits" if row["tier"] == "heap" else "l2_hits"]
    return judge({**row, "has_tier": True, "tier_hits": hits})


@pytest.mark.parametrize(
    ("cache", "wrong"),
    [
        (BlockCache("pmem", 64), BlockCache("off-heap", 64)),
        (BlockCache("flash", 64, mapped=True), BlockCache("flash", 64)),
    ],
    ids=lambda cache: cache.engine,
)
def test_the_servers_prove_the_tier(tmp_path: Path, cache: BlockCache, wrong: BlockCache) -> None:
    with built(tmp_path, with_cache(tmp_path, cache)) as build:
        emulated = build.cluster.disclosure["emulated"]
        assert bool(emulated) == SHM.exists() == (cache.place == "pmem")
        before = read_caches(build.cluster)
        found = caches_between(build.cluster, before, read_caches(build.cluster))
        assert set(found.engines.values()) == {cache.engine} and found.faults == ()
        assert found.l2_hits is not None and found.evictions is not None
        used = found.model_copy(update={"l2_hits": 10})
        assert verdict(used).verdict == "valid"
        assert "tier not used" in verdict(found.model_copy(update={"l2_hits": 0})).reasons[0]
        for other in (wrong, None, replace(cache, size_mib=4096)):
            claimed = declaring(build.cluster, other)
            there = read_caches(claimed)
            judged = verdict(
                caches_between(claimed, there, there).model_copy(
                    update={"l1_hits": 9, "l2_hits": 9}
                )
            )
            assert judged.verdict == "invalid", (other, judged)
            assert judged.reasons[0].startswith("wrong tier")
    assert not SHM.exists()


@contextmanager
def watched(runs: Path) -> Iterator[list[float]]:
    """MiB that the server's cache holds, each second in which clients read. A full cache is emptied in bulk:
    what it holds at the end says little about the trial."""
    used_mib: list[float] = []
    looked_for = 0

    def look() -> None:
        nonlocal looked_for
        with suppress(OSError, ValueError):  # there is no cluster yet, or no more
            (file,) = runs.glob(f"*/*/builds/*/{CLUSTER}")
            now = read_caches(read_cluster(file.parent))
            before, counters = looked_for, now.counters.values()
            looked_for = sum(one["l2_hits"] + one["l2_misses"] for one in counters)
            if before and looked_for > before + 1000:
                used_mib.append(now.used_mib)

    with repeating(look, 1.0):
        yield used_mib


@pytest.mark.parametrize("records", [FITS, EXCEEDS])
def test_hits_follow_the_size_of_the_working_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int
) -> None:
    spec, runs = tmp_path / "study.yaml", tmp_path / "runs"
    monkeypatch.setenv(VARIABLE, environment(runs)[VARIABLE])  # there is the door to its network
    spec.write_text(SPEC.replace("RECORDS", str(records)))
    with study_run(runs, spec=spec) as child, watched(runs) as used:
        run = wait_for(runs, lambda entry: entry.get("state") == "closed", 600)
        child.kill()
        child.wait()
    assert left_of(run) == [] and not SHM.exists()
    (manifest,) = closed_records(run / "records").values()
    caches, table = manifest.caches, manifest.state_before["hbase"]
    assert caches is not None and caches.used_mib is not None and caches.size_mib == 64
    assert caches.l2_hits is not None and caches.l2_misses is not None
    looked_for = caches.l2_hits + caches.l2_misses
    share = min(1.0, mean(used) / table["store_file_mib"])
    cold = caches.used_mib * 2**20 / BLOCK_BYTES / looked_for  # the cache was empty
    print(caches, table["store_file_mib"], used, share, cold)
    assert 100 * caches.l2_hits / looked_for == pytest.approx(100 * share * (1 - cold), abs=5)
    put_in = (caches.evictions or 0) + caches.used_mib * 2**20 / BLOCK_BYTES
    assert caches.l2_misses == pytest.approx(put_in, rel=0.05)  # each miss puts a block in
    assert caches.used_mib <= 64
    assert (
        (caches.used_mib < 0.9 * table["store_file_mib"])
        == bool(caches.evictions)
        == (records == EXCEEDS)
    )
    assert verdict(caches).verdict == "valid"
