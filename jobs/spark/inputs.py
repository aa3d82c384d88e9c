"""The input tables of a job, as Spark frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from analysis.tables import Table
from jobs.spark import store

Inputs = Mapping[Table, DataFrame]
"""Input of a transform: each declared table as a frame."""


def read_inputs(spark: SparkSession, run_root: Path, tables: Sequence[Table]) -> Inputs:
    """Tables of the run. StudyError for a table that does not exist yet."""
    return {table: store.read(spark, run_root, table) for table in tables}
