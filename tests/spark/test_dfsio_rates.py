"""TestDFSIO's three rates of a real job, by Spark and by an independent reading of the same files
(method 13)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.jobs.ingest.ingest import ingest
from density_study.jobs.metrics import throughput
from density_study.jobs.spark.run_tables import RunTables
from tests.support.dfsio_rates import slow_rates
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark

SAMPLES = Path(__file__).parents[1] / "samples"
PART, HISTORY = (SAMPLES / f"TestDFSIO-3.4.2_write{end}" for end in ("_part-00000", ".jhist"))


def test_rates_of_the_real_sample_match_an_independent_reading(
    spark: SparkSession, tmp_path: Path
) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = factory.dfsio("b1-v1-flash", "write", files=4)
    root = factory.close()
    raw = root / "records" / truth.trial / "raw"
    shutil.copy(PART, raw / "io" / "part-00000")
    shutil.copy(HISTORY, raw / "history" / "job_1.jhist")
    ingest(spark, root)
    rows = throughput.transform(RunTables(spark, root)).collect()
    rates = {row["name"]: row["value"] for row in rows if row["trial"] == truth.trial}
    slow = slow_rates([PART], HISTORY)
    for name, value in vars(slow).items():
        assert rates[name] == pytest.approx(value, rel=0.001), name
    assert slow.throughput_per_stream > slow.throughput_map_phase / slow.concurrent_maps
    assert slow.throughput_map_phase > slow.throughput_job  # includes YARN's start-up
