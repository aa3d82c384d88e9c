"""What a job reads: its tables as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from analysis.tables import Table
from jobs.spark import store

Inputs = Mapping[Table, DataFrame]
"""What a transform reads: each declared table as a frame."""


def read_inputs(spark: SparkSession, run_root: Path, tables: Sequence[Table]) -> Inputs:
    """The run's tables. StudyError for one that has not been made yet."""
    return {table: store.read(spark, run_root, table) for table in tables}
