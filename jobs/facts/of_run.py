"""The facts of every trial of a run, as tables: computed in this process for a small run, else by Spark's
tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import ceil
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from density_study.jobs.facts.of_trials import FACTS, facts_of_trials
from density_study.jobs.spark.run_tables import describe
from density_study.workloads import tables
from density_study.workloads.monitors.facts.canary import apart
from density_study.workloads.tables import Table
from density_study.workloads.tables.storage import file_sizes
from density_study.workloads.tables.store import (
    dataset,
    read_arrow,
    require,
    table_path,
    write_arrow,
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
    parts = list(_parts(session, run_root, [row["trial"] for row in trials]))
    found = {table: pa.concat_tables(part[table] for part in parts) for table in FACTS}
    checks = found.pop(tables.CHECKS).to_pylist()
    spreads = access_spreads(trials, _per_stream(found[tables.METRICS]))
    machines = apart(read_arrow(run_root, tables.MACHINE_SPEED).to_pylist())
    rows = [
        {**row, **machines.get(row["trial"], {}), "access_spread": spreads.get(row["trial"])}
        for row in checks
    ]
    write_rows(run_root, tables.CHECKS, rows)
    for table, whole in found.items():
        write_arrow(run_root, table, whole)


def _parts(
    session: Session, run_root: Path, trials: Sequence[str]
) -> Iterable[dict[Table, pa.Table]]:
    size = sum(sum(file_sizes(table_path(run_root, table)).values()) for table in READ)
    if size < SMALL_BYTES:
        return [facts_of_trials(str(run_root), trials)]
    spark = session()
    describe(spark, f"compute the facts of {len(trials)} trials of {run_root.name}")
    context = spark.sparkContext
    tasks = min(len(trials), max(context.defaultParallelism, ceil(size / BYTES_PER_TASK)))
    groups = [
        trials[len(trials) * n // tasks : len(trials) * (n + 1) // tasks] for n in range(tasks)
    ]
    task = partial(_packed, str(run_root))
    found: list[dict[Table, bytes]] = context.parallelize(groups, tasks).map(task).collect()
    return [
        {table: pa.ipc.open_stream(part).read_all() for table, part in one.items()} for one in found
    ]


def _packed(run_root: str, trials: Sequence[str]) -> dict[Table, bytes]:
    """The facts, compressed to a quarter: Spark's driver holds the results of all tasks at once."""
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    packed: dict[Table, bytes] = {}
    for table, rows in facts_of_trials(run_root, trials).items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema, options=options) as stream:
            stream.write_table(rows)
        packed[table] = sink.getvalue().to_pybytes()
    return packed


def _per_stream(metrics: pa.Table) -> dict[str, float | None]:
    return {
        row["trial"]: row["value"]
        for row in metrics.select(["trial", "name", "value"]).to_pylist()
        if row["name"] == "throughput_per_stream"
    }
