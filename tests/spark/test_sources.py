"""The raw formats as Spark data sources, for files without a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from density_study.jobs.sources import KNOWN_BY_MANIFEST, SOURCES, RawFiles, register
from density_study.workloads import tables
from density_study.workloads.monitors.devices import devices
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.readers import READERS, read
from tests.property.mutations import SAMPLES

pytestmark = pytest.mark.spark
PATTERNS = {
    "dool": "d*.csv",
    "sar": "sar-*.csv",
    "nodecpu": "nodecpu-*.csv",
    **{name: f"telemetry-1_{name}.csv" for name in (*devices(), "profile")},
    "gc": "gc-1_jdk17.csv",
    **{name: f"{name}-1.csv" for name in ("stalls", "slowlog", "jfr")},
    "ycsb-summary": "ycsb-*.out",
    "ycsb-status": "ycsb-*.err",
    "ycsb-hdr": "ycsb-*.hdr",
    "ycsb-schedule": "ycsb-schedule.csv",
    "pipeline-stages": "pipeline-*_stages.csv",
    "pipeline-answers": "pipeline-*_answers.csv",
    "dfsio-results": "TestDFSIO-*.log",
    "dfsio-io": "TestDFSIO-*_part-*",
    "dfsio-history": "*.jhist",
}


@pytest.fixture(scope="module", autouse=True)
def _registered(spark: SparkSession) -> None:
    register(spark)


def load(spark: SparkSession, kind: str, table: str, pattern: str) -> DataFrame:
    return spark.read.format(kind).option("table", table).load(pattern)


def purely(kind: str, table: str, pattern: str) -> list[dict[str, Any]]:
    """Rows of the pure parsers."""
    rows = []
    for path in sorted(SAMPLES.glob(pattern)):
        for of, row in read(RawFile("", kind, "", str(path), str(path))):
            if of.name == table:
                fields = {
                    k: list(v) if isinstance(v, tuple) else v  # an array, in Spark
                    for k, v in row.items()
                    if k not in KNOWN_BY_MANIFEST
                }
                rows.append({**fields, "file": str(path)})
    return rows


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["file"], row.get("line", 0), str(sorted(row.items()))))


def test_every_reader_has_a_source() -> None:
    assert {source.KIND for source in SOURCES} == set(READERS) == set(PATTERNS)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.KIND)
def test_rows_and_quarantine_equal_those_of_the_pure_parsers(
    spark: SparkSession, source: type[RawFiles]
) -> None:
    pattern = PATTERNS[source.KIND]
    for table in (*source.TABLES, tables.QUARANTINE):
        frame = load(spark, source.KIND, table.name, f"{SAMPLES}/{pattern}")
        actual = in_order([row.asDict() for row in frame.collect()])
        expected = in_order(purely(source.KIND, table.name, pattern))
        assert [list(row) for row in actual] == [frame.columns] * len(expected)
        for row, of in zip(actual, expected, strict=True):
            assert {name: row[name] for name in of} == of
        assert actual or table is tables.QUARANTINE


def test_samples_can_be_queried_in_sql_and_a_uri_reads_like_a_path(spark: SparkSession) -> None:
    uri = f"{SAMPLES.as_uri()}/dool-1.3.8*.csv"
    spark.read.format("dool").load(uri).createOrReplaceTempView("samples")
    (row,) = spark.sql(
        "SELECT count(*) AS n, max(cpu_idle) AS idle FROM samples WHERE NOT since_boot"
    ).collect()
    assert row["n"] > 0 and 0 <= row["idle"] <= 100


def test_a_pattern_without_files_and_an_unknown_table_are_errors(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(PySparkException, match="no file matches"):
        spark.read.format("dool").load(f"{tmp_path}/*.csv").count()
    with pytest.raises(PySparkException, match="has no table 'x', only host_samples, quarantine"):
        load(spark, "dool", "x", f"{SAMPLES}/d*.csv").count()
