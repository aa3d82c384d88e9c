"""Tables of a run as Spark frames: read and written with the declared types, and atomically."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.storage import file_sizes, is_local
from density_study.workloads.tables.store import dataset, require

Inputs = Mapping[Table, DataFrame]  # input of a transform: tables as frames


LOCAL_BYTES = 4 * 2**20
"""Largest size of a table's files that the driver reads itself."""


class RunTables(dict[Table, DataFrame]):
    """The tables of a run; each is read when it is first used. StudyError for one that does not exist yet.

    Most tables have a few rows per trial. For these, Spark takes longer to list and scan the files, once per
    use, than Arrow takes to read them.
    """

    def __init__(self, spark: SparkSession, run_root: Path) -> None:
        super().__init__()
        self._spark, self._run_root = spark, run_root

    def __missing__(self, table: Table) -> DataFrame:
        path = require(self._run_root, table)
        if sum(file_sizes(path).values()) <= LOCAL_BYTES:
            rows = dataset(self._run_root, table).to_table()
            # In one partition, joins and sums of small tables need no shuffle.
            self[table] = self._spark.createDataFrame(rows, struct(table)).coalesce(1)
        else:
            self[table] = self._read(table, path)
        return self[table]

    def _read(self, table: Table, path: Path) -> DataFrame:
        literal = self._spark.read.option(
            "__globPaths__", "false"
        )  # a folder's name may have brackets
        return literal.schema(struct(table)).parquet(_uri(path))


def struct(table: Table) -> StructType:
    """`table` as a Spark schema. Every column is nullable, as in Parquet files that Spark reads."""
    return from_arrow_schema(arrow_schema(table))


def _uri(path: Path) -> str:
    """With its scheme. Without one, Spark takes the default file system of some configuration."""
    # Not `as_uri`: Hadoop would take each %20 literally.
    return f"file://{path.absolute()}" if is_local(path) else str(path)


def describe(spark: SparkSession, what: str) -> None:
    """Name this thread's next Spark jobs, as the UI and the event log show them."""
    spark.sparkContext.setJobDescription(what)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The declared columns of `table` in `frame`, cast to their types."""
    return frame.select(
        [F.col(field.name).cast(field.dataType).alias(field.name) for field in struct(table)]
    )
