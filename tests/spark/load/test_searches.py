"""A run with searches, analysed: the answer's trial alone counts, and its latency is what the search saw."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.analysis.findings import Evidence
from density_study.analysis.report.page import render
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.summarise import summarise
from density_study.cluster.model.isolation import Isolation
from density_study.jobs.pipeline import STAGES, run_stage
from density_study.workloads import tables
from density_study.workloads.execution.searching import judged
from density_study.workloads.record.record import read_manifest
from density_study.workloads.tables.store import read_table
from tests.support.search_factory import search_run

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = search_run(tmp_path_factory.mktemp("runs") / "quickstart").close()
    for stage in STAGES:
        run_stage(stage, root)
    return root


def test_a_search_judges_by_the_numbers_of_the_analysis(run: Path) -> None:
    metrics = read_table(run, tables.METRICS).set_index("trial")
    for record in sorted((run / "records").glob("*-probe*")):
        found = judged(read_manifest(record), record)
        rows = metrics.loc[record.name]
        (rate,) = rows[rows["name"] == "throughput"]["value"]
        assert found.rate_ops_s == pytest.approx(rate, rel=1e-12)
        of_reads = rows[(rows["operation"] == "READ") & (rows["percentile"] == 99.0)]
        (p99_ms,) = of_reads[of_reads["latency_kind"] == "intended"]["value"]
        assert found.latency_ms == {"READ p99": p99_ms} or found.kept is False


def test_the_answers_trial_alone_counts_for_its_test_case(run: Path) -> None:
    summary = summarise(run, 0.0)
    found = {s.topology: s for s in summary.test_cases if s.sought}
    assert {name: one.n_builds for name, one in found.items()} == {"v1-flash": 1, "v2-flash": 1}
    for topology, load in (("v1-flash", 440), ("v2-flash", 480)):
        by_name = {metric.name: metric for metric in found[topology].metrics}
        assert by_name["rate_at_slo"].value == pytest.approx(load, rel=0.01)
        assert by_name["rate_at_slo"].value == by_name["throughput"].value
    trials = {trial.trial: trial for trial in summary.trials}
    assert [len(search.probes) for search in summary.searches] == [3, 3]
    assert not [t for t in trials.values() if any("unsustained" in why for why in t.reasons)]


def test_the_report_answers_with_the_search(run: Path) -> None:
    summary = summarise(run, 0.0)
    assert summary.headline_test_case == summary.searches[0].test_case
    assert summary.headline == (
        "Inconclusive (1 repetition): highest rate with READ p99 <= 5 ms in YCSB 45/55 read-insert, at equal "
        "total memory: 440 operations per second with 1 worker per host, 480 with 2 workers per host."
    )
    cut = frozenset({(summary.searches[0].test_case, "v1-flash")})
    cut_short = headline(Evidence(summary.test_cases, 1, Isolation.PROCESS, bounds=cut), 8).text
    assert "at least 440 operations per second with 1 worker per host, 480 with 2" in cut_short
    of_one = tuple(one for one in summary.test_cases if one.topology == "v1-flash" and one.sought)
    alone = headline(Evidence(of_one, 1, Isolation.PROCESS, bounds=cut), 8).text
    assert "ran at 440 or more operations per second on v1-flash." in alone
    rates = [
        one
        for one in summary.findings
        if one.id.startswith("density-rate") and "max-read" in one.id
    ]
    assert [one.effect for one in rates] == [pytest.approx(480 / 440, rel=0.02)]
    latencies = [one for one in summary.findings if one.id.startswith("density-latency")]
    assert not [one for one in latencies if "max-read" in one.id], "all are near the limit"
    page = render(summary)
    assert "What each search found" in page
    assert "(the answer)" in page
