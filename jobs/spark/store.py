"""Read and write tables of a run as Spark frames: with the declared types, and atomically."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis.tables import Table
from analysis.tables.store import replace, require
from jobs.spark.spark_types import struct


def read(spark: SparkSession, run_root: Path, table: Table) -> DataFrame:
    """`table` of the run. StudyError if it does not exist yet."""
    path = require(run_root, table)
    return spark.read.schema(struct(table)).parquet(str(path))


def write(frame: DataFrame, run_root: Path, table: Table) -> None:
    """Write `frame` as `table`, with the declared columns in order. Rows are unordered: readers sort."""
    describe(frame.sparkSession, f"write table {table.name}")
    typed = conform(frame, table)
    replace(run_root, table, lambda folder: typed.write.parquet(str(folder)))


def describe(spark: SparkSession, what: str) -> None:
    """Name this thread's next Spark jobs, as the UI and the event log show them."""
    spark.sparkContext.setJobDescription(what)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The declared columns of `table` in `frame`, cast to their types."""
    return frame.select(
        [F.col(field.name).cast(field.dataType).alias(field.name) for field in struct(table)]
    )
