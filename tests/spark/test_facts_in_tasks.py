"""The facts of a large run are computed by Spark's tasks: the same tables, to the last digit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from density_study.jobs.facts import of_run
from density_study.jobs.facts.of_trials import FACTS
from density_study.jobs.spark.session import spark_session
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_tasks_find_what_this_process_finds(
    spark: SparkSession, world: Analysed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "run"
    shutil.copytree(world.root, root, ignore=lambda *_: {table.name for table in FACTS})
    monkeypatch.setattr(of_run, "SMALL_BYTES", 0)
    of_run.write_facts(spark_session, root)
    for table in FACTS:
        expected = read_table(world.root, table)
        assert len(expected) > 40
        pd.testing.assert_frame_equal(read_table(root, table), expected, check_exact=True)
