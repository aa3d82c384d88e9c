"""The four stages give the same result when repeated, reordered or repartitioned."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import StudyError
from density_study.jobs import pipeline
from density_study.jobs.ingest import ingest as ingesting
from density_study.jobs.ingest import ingest_state
from density_study.jobs.spark import session
from density_study.workloads.rows.raw.raw_files import raw_files_of
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark


@pytest.fixture
def small(tmp_path: Path) -> Path:
    factory = RunFactory(tmp_path / "small" / RUN)
    factory.ycsb("b1-v1-flash", rate=60)
    factory.dfsio("b1-v2-flash", "write")
    return factory.close()


def _tables(root: Path) -> dict[str, pd.DataFrame]:
    return {name: read_table(root, table) for name, table in TABLES.items()}


def _make_tables(root: Path) -> None:
    for stage in pipeline.TABLE_STAGES:
        pipeline.run_stage(stage, root)


@pytest.mark.slow
def test_results_are_the_same_in_any_order_and_partitioning(
    spark: SparkSession, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_tables(small)
    before = _tables(small)
    monkeypatch.setattr(session, "_FEW_BYTES", 0)
    monkeypatch.setattr(session, "_BYTES_PER_PARTITION", 2**16)
    ingest_state.forget(small)
    monkeypatch.setattr(ingesting, "BYTES_PER_TASK", 1)  # one task per file, on executors
    monkeypatch.setattr(ingesting, "SMALL_BYTES", 0)
    monkeypatch.setattr(
        ingesting,
        "raw_files_of",
        lambda *arguments: {t: files[::-1] for t, files in raw_files_of(*arguments).items()},
    )
    pipeline.analyse(small, stages=pipeline.TABLE_STAGES)
    after = _tables(small)
    for name, table in before.items():
        pd.testing.assert_frame_equal(table, after[name], check_exact=True, obj=name)
    assert len(list((small / "tables" / "host_samples").iterdir())) > 1
    remaining = {path.name for path in (small / "tables").iterdir()}
    assert remaining == {*TABLES, "ingested.json"}


def test_a_record_of_another_format_is_refused_by_name(spark: SparkSession, small: Path) -> None:
    manifest = next(small.glob("records/*/manifest.json"))
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 7}))
    with pytest.raises(StudyError, match="format 7") as error:
        pipeline.run_stage("ingest", small)
    assert str(manifest) in error.value.where


def test_stages_out_of_order_report_the_remedy(spark: SparkSession, small: Path) -> None:
    with pytest.raises(StudyError, match=r"the table '\w+' is not there.*study report"):
        pipeline.run_stage("metrics", small)


def test_a_run_without_records_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    with pytest.raises(StudyError, match="no closed record"):
        pipeline.run_stage("ingest", tmp_path)


def test_the_summary_lists_all_trials_and_claims_nothing(world: Analysed) -> None:
    summary = Summary.model_validate_json((world.root / "report" / "summary.json").read_bytes())
    assert {trial.trial for trial in summary.trials} == {t.trial for t in world.truths.values()}
    assert {finding.verdict for finding in summary.findings} == {"measured", "inconclusive"}
    scan = next(f for f in summary.findings if f.id.startswith("density-rate-ycsb-scan"))
    first, later = (world.metric(case, "throughput") for case in ("scan", "scan_v2"))
    assert scan.effect == pytest.approx(later / first)
    assert f"×{later / first:.2f} (" in summary.headline
    assert summary.question == "Is it so?"
    assert summary.time.analysing_s is not None and summary.time.analysing_s > 0
    numbers = [m.value for t in summary.trials for m in t.metrics]
    assert None in numbers and all(value is None or value == value for value in numbers)


def test_the_report_exists_and_the_study_links_to_it(world: Analysed) -> None:
    assert (world.root / "report" / "index.html").stat().st_size > 10_000
    assert (world.root.parent / "report" / "index.html").samefile(
        world.root / "report" / "index.html"
    )
