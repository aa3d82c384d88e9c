"""TeraSort on real daemons: rows are made once, sorted, and verified; a wrong order fails the trial."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.jobs.facts.of_run import write_facts
from density_study.jobs.ingest.ingest import ingest
from density_study.jobs.spark.session import spark_session
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected
from density_study.workloads.tables import CHECKS, METRICS
from density_study.workloads.tables.store import read_table
from density_study.workloads.terasort import workload as module
from density_study.workloads.terasort.test_case import TeraSortTestCase
from density_study.workloads.terasort.workload import TeraSortWorkload
from tests.live.support.builds import open_build, topology
from tests.live.support.one_trial import run_trial
from tests.support.topologies import with_variant

pytestmark = pytest.mark.timeout(500)

SORT = TeraSortTestCase(size_mib=48, files=2, reduces=2)
UNSORTED = SORT.model_copy(update={"reduces": 1})


def name_of(place: int, test_case: TeraSortTestCase) -> str:
    return f"b1-v2-flash-{place:03d}-{test_case.id}"


@dataclass(frozen=True)
class Ran:
    root: Path
    sorted: tuple[Collected, ClientRun]
    unsorted: tuple[Collected, ClientRun]
    left_on_hdfs: list[str]
    metrics: dict[str, float]
    checks: pd.Series


def generate_again(
    test_case: TeraSortTestCase, placed: AnyTopology, _: str, target: str
) -> tuple[str, ...]:
    """In place of the sort: the same rows, in the order in which they were made."""
    return module.generate_arguments(test_case, placed, target)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    folder = tmp_path_factory.mktemp("terasort")
    site, journal = open_build(folder, os.getpid())
    root = site.root.parents[1]
    placed = replace(topology(folder, workers=2), name="v2-flash", worker_stacks=SORT.needs_stacks)
    placed = with_variant(placed, vms_per_host=2)
    try:
        cluster = bring_up(site, placed, ensure_stacks(), journal)
        trial = name_of(0, SORT)
        done = run_trial(root, cluster, journal, trial, SORT, TeraSortWorkload())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "sort_arguments", generate_again)
            name = name_of(1, UNSORTED)
            wrong = run_trial(root, cluster, journal, name, UNSORTED, TeraSortWorkload())
        hdfs = Hdfs(cluster)
        left = hdfs.glob(f"{hdfs.benchmarks}/*/*")
    finally:
        tear_down(site, journal)
    ingest(spark_session, root)
    write_facts(spark_session, root)
    metrics = read_table(root, METRICS)
    own = metrics[metrics["trial"] == trial]
    numbers = dict(zip(own["name"], own["value"], strict=True))
    checks = read_table(root, CHECKS).set_index("trial").loc[trial]
    yield Ran(root, done, wrong, left, numbers, checks)


def test_a_sort_ends_without_a_fault_and_leaves_its_input_alone(ran: Ran) -> None:
    collected, client = ran.sorted
    raw = ran.root / "records" / name_of(0, SORT) / "raw"
    assert client.exit_code == 0, (raw / "terasort.err").read_text()[-2000:]
    assert collected.faults == ()
    assert [Path(one).name for one in ran.left_on_hdfs] == ["rows", "teragen.jhist"]


def test_the_rows_came_from_the_disk(ran: Ran) -> None:
    cold = ran.sorted[0].cold
    assert cold is not None and cold.distinct_bytes_asked == SORT.asked_bytes
    assert cold.physical_read_bytes is not None
    assert cold.physical_read_bytes >= 0.9 * SORT.asked_bytes


def test_its_numbers_agree_with_the_window_and_with_each_other(ran: Ran) -> None:
    found, client = ran.metrics, ran.sorted[1]
    window_s = client.end_epoch_s - client.start_epoch_s
    assert 0 < found["sort_map_phase"] < found["sort_time"] < window_s
    assert 0 < found["sort_reduce_phase"] < found["sort_time"]
    mib = SORT.asked_bytes / 2**20
    assert found["throughput_sort"] == pytest.approx(mib / found["sort_time"])
    assert 0 < found["sort_cpu"] * mib / 1024 < 2 * window_s
    assert found["sort_spills"] >= 2  # a map writes each row, and so does the merge before a reduce
    assert ran.checks["work_share"] == 1.0
    assert ran.checks["rate_error"] < 0.02
    assert ran.checks["cold_share"] >= 0.9


def test_rows_in_the_wrong_order_fail_the_trial(ran: Ran) -> None:
    collected, client = ran.unsorted
    assert client.exit_code == 0
    assert any("misorder" in fault for fault in collected.faults), collected.faults
