"""The queries of an analysis, whose classes of Spark go into an archive (`jobs.spark.class_archive`).

python -m density_study.jobs.archived_queries FILE
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from density_study.jobs.pipeline import TEST_CASE_JOBS
from density_study.jobs.spark.class_archive import TIMEOUT_S
from density_study.jobs.spark.run_tables import struct
from density_study.jobs.spark.session import archiving_to, spark_session
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_table


class _OneRowEach(dict[Table, DataFrame]):
    """Tables of a row without values: Spark would leave out most of a query on empty ones."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self._spark = spark

    def __missing__(self, table: Table) -> DataFrame:
        return self._spark.createDataFrame(arrow_table(table, [{}]), struct(table))


def main() -> None:
    archiving_to(Path(sys.argv[1]))
    spark = spark_session()
    for job in chain.from_iterable(TEST_CASE_JOBS):
        rows: pa.Table = job.transform(_OneRowEach(spark)).toArrow()
        rows.validate()
    spark.sparkContext.parallelize([0], 1).map(str).collect()  # ingest is such a task
    gateway: Any = SparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(TIMEOUT_S)  # it writes the archive when it ends


if __name__ == "__main__":
    main()
