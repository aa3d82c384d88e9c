"""The facts of every trial of a run, as tables: computed in this process for a small run, else by Spark's
tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from density_study.jobs.facts.of_trials import FACTS, write_part
from density_study.jobs.spark.run_tables import describe
from density_study.workloads import tables
from density_study.workloads.base.rows import Row
from density_study.workloads.monitors.facts.canary import apart
from density_study.workloads.tables.storage import file_sizes, place
from density_study.workloads.tables.store import (
    dataset,
    read_arrow,
    replace,
    require,
    staging,
    table_path,
    take_parts,
    write_rows,
)
from density_study.workloads.testdfsio.facts import access_spreads

Session = Callable[[], SparkSession]
READ = (
    tables.YCSB_HISTOGRAMS,
    tables.OPERATION_SECONDS,
    tables.HOST_DISK_SERIES,
    tables.YCSB_SCHEDULE,
)
"""Tables with a row per second or more; those of the others have a few rows per trial."""
BYTES_PER_TASK = 2**25
"""Bytes of record files for one Spark task, which bound an executor's memory."""
SMALL_BYTES = 2**23
"""Less is computed in this process, because starting an executor's Python takes longer."""


def write_facts(session: Session, run_root: Path) -> None:
    """Write the tables `metrics`, `checks`, `trial_rate_series` and `steadiness`.

    session: called only for enough data. StudyError if a table of ingest is not there.
    """
    require(run_root, tables.TRIALS)
    trials = dataset(run_root, tables.TRIALS).to_table().to_pylist()
    with staging(run_root) as folder:
        parts = _parts(session, run_root, [row["trial"] for row in trials], str(folder))
        found = {table: [place(part[table.name]) for part in parts] for table in FACTS}
        checks = [row for part in found.pop(tables.CHECKS) for row in _rows(part)]
        for table, files in found.items():
            replace(run_root, table, partial(take_parts, files))
    spreads = access_spreads(trials, _per_stream(run_root))
    machines = apart(read_arrow(run_root, tables.MACHINE_SPEED).to_pylist())
    rows = [
        {**row, **machines.get(row["trial"], {}), "access_spread": spreads.get(row["trial"])}
        for row in checks
    ]
    write_rows(run_root, tables.CHECKS, rows)


def _parts(
    session: Session, run_root: Path, trials: Sequence[str], folder: str
) -> Sequence[dict[str, str]]:
    """In the order of trials, a Parquet file of each table's rows."""
    task = partial(write_part, str(run_root), folder)
    size = sum(sum(file_sizes(table_path(run_root, table)).values()) for table in READ)
    if size < SMALL_BYTES:
        return [task(trials)]
    spark = session()
    describe(spark, f"compute the facts of {len(trials)} trials of {run_root.name}")
    context = spark.sparkContext
    tasks = min(len(trials), max(context.defaultParallelism, ceil(size / BYTES_PER_TASK)))
    groups = [
        trials[len(trials) * n // tasks : len(trials) * (n + 1) // tasks] for n in range(tasks)
    ]
    found: Sequence[dict[str, str]] = context.parallelize(groups, tasks).map(task).collect()
    return found


def _rows(part: Path) -> list[Row]:
    with part.open("rb") as source:
        rows: list[Row] = pq.read_table(source).to_pylist()
    return rows


def _per_stream(run_root: Path) -> dict[str, float | None]:
    named = pc.field("name") == "throughput_per_stream"
    rows = dataset(run_root, tables.METRICS).to_table(["trial", "value"], filter=named)
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))
