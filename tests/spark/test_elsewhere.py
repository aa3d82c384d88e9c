"""Records and tables at a URI: the same rows for any file system."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from density_study.analysis.summary.summary import Summary
from density_study.jobs import pipeline
from density_study.jobs.ingest import ingest as ingesting
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.storage import copy_missing, place
from density_study.workloads.tables.store import read_table
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_a_run_with_data_at_a_uri(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = RunFactory(tmp_path / "study" / RUN)
    factory.ycsb("b1-v1-flash", rate=60)
    factory.dfsio("b1-v2-flash", "write")
    root = factory.close()
    pipeline.analyse(root)
    here = {name: read_table(root, table) for name, table in TABLES.items()}
    summary = Summary.model_validate_json((root / "report" / "summary.json").read_bytes())
    shutil.rmtree(root / "tables")
    data = place((tmp_path / "elsewhere").as_uri())
    assert copy_missing(root / "records", data / "records") > 10
    monkeypatch.setattr(ingesting, "SMALL_BYTES", 0)  # on executors
    for _ in range(2):  # again: no file is read, and the tables are replaced
        pipeline.analyse(root, data)
    for name, table in here.items():
        there = read_table(data, TABLES[name])
        pd.testing.assert_frame_equal(table, there, check_exact=True, obj=name)
    assert not (root / "tables").exists()
    again = Summary.model_validate_json((root / "report" / "summary.json").read_bytes())
    same = {"created": "", "time": summary.time}
    assert again.model_copy(update=same) == summary.model_copy(update=same)
