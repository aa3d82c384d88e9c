"""From the records of a run to typed tables and a quarantine: `python -m jobs.ingest RUN`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from analysis import tables
from analysis.store import write_rows
from analysis.tables import Table
from cluster.errors import StudyError
from jobs import store
from jobs.parse_task import FROM_FILES, parse_batches
from jobs.raw_files import RawFile, raw_files
from jobs.records import (
    Row,
    bring_up_rows,
    client_rows,
    manifests_of,
    monitor_rows,
    node_rows,
    trial_row,
)
from jobs.schema import struct
from jobs.session import spark_session
from workloads.manifest import Manifest

FILES_A_TASK = 16


def ingest(spark: SparkSession, run_root: Path) -> None:
    """Write every table that comes from the records. Again gives the same tables.

    StudyError: no record, or a manifest of a format this version does not know.
    """
    manifests = manifests_of(run_root)
    for table, rows in _from_manifests(manifests):
        write_rows(run_root, table, rows)
    files = [file for manifest in manifests for file in raw_files(run_root, manifest)]
    ingest_files(spark, run_root, files)


def ingest_files(spark: SparkSession, run_root: Path, files: Sequence[RawFile]) -> None:
    """Write the tables that are made of raw files."""
    parsed = parse(spark, files).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        parsed.count()  # now, in parallel: each table is then written by one task
        for table in FROM_FILES:
            store.write(rows_of(parsed, table), run_root, table)
    finally:
        parsed.unpersist()


def _from_manifests(manifests: Sequence[Manifest]) -> Iterator[tuple[Table, list[Row]]]:
    yield tables.TRIALS, [trial_row(manifest) for manifest in manifests]
    yield tables.NODES, [row for manifest in manifests for row in node_rows(manifest)]
    yield tables.CLIENTS, [row for manifest in manifests for row in client_rows(manifest)]
    yield tables.MONITORS, [row for manifest in manifests for row in monitor_rows(manifest)]
    yield tables.BRING_UP, list(bring_up_rows(manifests))


def parse(spark: SparkSession, files: Sequence[RawFile]) -> DataFrame:
    """Every row of every file: a struct column for each table of FROM_FILES, of which one is not
    null. Parsed where the executors are, some files a task."""
    schema = StructType([StructField(field.name, StringType()) for field in fields(RawFile)])
    tasks = max(spark.sparkContext.defaultParallelism, len(files) // FILES_A_TASK)
    listed = spark.createDataFrame([astuple(file) for file in files], schema)
    whole = StructType([StructField(table.name, struct(table)) for table in FROM_FILES])
    return listed.repartition(tasks).mapInArrow(parse_batches, whole)


def rows_of(parsed: DataFrame, table: Table) -> DataFrame:
    """The rows of `table` among what `parse` gave."""
    return parsed.where(parsed[table.name].isNotNull()).select(f"{table.name}.*")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="runs/<study>/<run-id>")
    try:
        ingest(spark_session(), parser.parse_args(argv).run)
    except StudyError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
