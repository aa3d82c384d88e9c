"""Every mode of TestDFSIO, and every storage option of its files, on real daemons: one cluster for
all.

Each trial's record is then ingested, and its three rates are compared with an independent reading
of the job's own outputs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Site
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.journal import Journal
from density_study.jobs.facts.of_run import write_facts
from density_study.jobs.ingest.ingest import ingest
from density_study.jobs.spark.session import spark_session
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected
from density_study.workloads.tables import METRICS, TRIALS
from density_study.workloads.tables.store import read_table
from density_study.workloads.testdfsio.data import DataSet
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.testdfsio.workload import DfsioWorkload
from tests.live.support.builds import open_build, topology
from tests.live.support.one_trial import run_trial
from tests.support.dfsio_rates import slow_rates
from tests.support.topologies import with_variant

pytestmark = pytest.mark.timeout(400)

FILES, SIZE_MIB = 3, 8
RATES = ("throughput_per_stream", "throughput_map_phase", "throughput_job", "concurrent_maps")


def case(mode: Any, **knobs: Any) -> DfsioTestCase:
    fixed = {"files": FILES, "file_size_mib": SIZE_MIB, "read_size_bytes": 2**20}
    return DfsioTestCase(mode=mode, **{**fixed, **knobs})


ZIPPED = {"compression": "gzip", "storage_policy": "ALL_SSD"}
CODED = {"erasure_coding": "XOR-2-1-1024k"}
TEST_CASES = {
    "write": case("write"),
    "read by 2": case("read", readers=2),
    "append": case("append"),
    "backward": case("backward", read_size_bytes=1_000_000),
    "truncate": case("truncate"),
    "skip": case("skip", read_size_bytes=65536, skip_size_bytes=3 * 65536),
    "zipped write": case("write", **ZIPPED),
    "zipped read": case("read", **ZIPPED),
    "coded write": case("write", **CODED),
    "coded random": case("random", **CODED),
}
"""In execution order: a read after an append has the files as they were written."""


@dataclass(frozen=True)
class Ran:
    """The run after all trials, each trial's outcome, and the metrics from Spark."""

    root: Path
    collected: dict[str, Collected]
    clients: dict[str, ClientRun]
    left_on_hdfs: dict[str, bool]
    metrics: pd.DataFrame
    trials: pd.DataFrame

    def raw(self, name: str) -> Path:
        return self.root / "records" / trial(name) / "raw"

    def metric(self, name: str, metric: str) -> float:
        rows = self.metrics[
            (self.metrics["trial"] == trial(name)) & (self.metrics["name"] == metric)
        ]
        assert len(rows) == 1
        return float(rows["value"].iloc[0])


def trial(name: str) -> str:
    return f"b1-v3-flash-{list(TEST_CASES).index(name):03d}-{TEST_CASES[name].id}"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    folder = tmp_path_factory.mktemp("modes")
    site, journal = open_build(folder, os.getpid())
    root = site.root.parents[1]
    placed = with_variant(replace(topology(folder, workers=3), name="v3-flash"), vms_per_host=3)
    for spec in TEST_CASES.values():
        spec.check_topology(placed)
    try:
        cluster = bring_up(site, placed, ensure_stacks(), journal)
        outcomes = {
            name: run_trial(root, cluster, journal, trial(name), spec, DfsioWorkload())
            for name, spec in TEST_CASES.items()
        }
        stored = {
            name: bool(DataSet(Hdfs(cluster), spec).stored().files)
            for name, spec in TEST_CASES.items()
        }
    finally:
        tear_down(site, journal)
    ingest(spark_session, root)
    write_facts(spark_session, root)
    yield Ran(
        root,
        {name: collected for name, (collected, _) in outcomes.items()},
        {name: client for name, (_, client) in outcomes.items()},
        stored,
        read_table(root, METRICS),
        read_table(root, TRIALS).set_index("trial"),
    )


@pytest.mark.parametrize("name", TEST_CASES)
def test_each_mode_ends_without_a_fault(ran: Ran, name: str) -> None:
    assert ran.clients[name].exit_code == 0, (ran.raw(name) / "testdfsio.err").read_text()[-2000:]
    assert ran.collected[name].faults == ()


@pytest.mark.parametrize("name", TEST_CASES)
def test_rates_equal_those_of_an_independent_reading(ran: Ran, name: str) -> None:
    raw = ran.raw(name)
    (history,) = raw.glob("history/*.jhist")
    slow = slow_rates(sorted(raw.glob("io/part-*")), history)
    for rate in RATES:
        assert ran.metric(name, rate) == pytest.approx(getattr(slow, rate), rel=0.001), rate


@pytest.mark.parametrize("name", TEST_CASES)
def test_the_tables_contain_its_knobs_and_requested_amount(ran: Ran, name: str) -> None:
    row, spec = ran.trials.loc[trial(name)], TEST_CASES[name]
    assert row["test_case"] == spec.id and row["asked_bytes"] == spec.asked_bytes
    for knob in ("mode", "compression", "erasure_coding", "storage_policy"):
        assert row[knob] == getattr(spec, knob)


def test_the_limit_of_readers_is_respected_and_without_it_more_run_at_once(ran: Ran) -> None:
    assert ran.metric("read by 2", "concurrent_maps") == 2
    assert ran.metric("write", "concurrent_maps") > 2


def test_a_mode_that_changes_files_uses_its_own_and_removes_them(ran: Ran) -> None:
    removed = {name for name, there in ran.left_on_hdfs.items() if not there}
    assert removed == {"append", "truncate"}


@pytest.mark.parametrize("name", ["read by 2", "backward", "skip", "coded random", "zipped read"])
def test_reads_came_from_the_disk(ran: Ran, name: str) -> None:
    cold = ran.collected[name].cold
    assert cold is not None and cold.distinct_bytes_asked and cold.physical_read_bytes is not None
    assert cold.physical_read_bytes >= 0.9 * cold.distinct_bytes_asked


@pytest.mark.parametrize("name", ["write", "append", "zipped write", "coded write"])
def test_a_write_has_a_rate_to_disk(ran: Ran, name: str) -> None:
    """What it left in memory was written out and timed; no rate to disk is above that of the maps."""
    row = ran.trials.loc[trial(name)]
    assert row["unwritten_bytes"] >= 0 and 0 <= row["write_out_s"] < 60
    to_disk = ran.metric(name, "rate_to_disk")
    map_phase = ran.metric(name, "throughput_map_phase")
    written_s = FILES * SIZE_MIB / to_disk - FILES * SIZE_MIB / map_phase
    assert written_s == pytest.approx(row["write_out_s"], abs=0.01)


def test_the_pages_of_a_write_are_seen_before_they_are_on_the_disk(ran: Ran) -> None:
    """The kernel lets a page be dirty for longer than such a job takes; others may write, too."""
    assert ran.trials.loc[trial("write")]["unwritten_bytes"] > FILES * SIZE_MIB * 2**20 / 2


def test_nodes_that_share_an_address_do_not_tell_the_distance_of_reads(ran: Ran) -> None:
    row = ran.trials.loc[trial("read by 2")]
    assert all(pd.isna(row[f"read_{one}_bytes"]) for one in ("sent", "local", "rack", "remote"))


def test_reads_leave_nothing_to_write(ran: Ran) -> None:
    assert all(
        "unwritten" not in (ran.collected[name].state or {}) for name in ("read by 2", "skip")
    )


def test_files_are_stored_as_configured(ran: Ran) -> None:
    stored = {name: (c.state or {})["stored"] for name, c in ran.collected.items()}
    assert stored["coded write"]["erasure_codings"] == ("XOR-2-1-1024k",)
    assert stored["zipped write"]["storage_policies"] == (12,)
    assert stored["zipped write"]["bytes"] < 0.1 * FILES * SIZE_MIB * 2**20
    assert stored["write"]["bytes"] == FILES * SIZE_MIB * 2**20


def test_nothing_of_the_cluster_remains(ran: Ran) -> None:
    site_root = next(ran.root.glob("builds/b1"))
    journal = Journal(ran.root / "journal.jsonl")
    site = Site(site_root, f"{'/'.join(ran.root.parts[-2:])}/b1")
    assert not provider_named("local").leftovers(site, journal)
