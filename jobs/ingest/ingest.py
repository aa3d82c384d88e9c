"""Convert the records of a run into typed tables and a quarantine.

Records that are already ingested are not read again: their rows are copied from the existing tables.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from math import ceil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from density_study.jobs.ingest import ingest_state
from density_study.jobs.ingest.parse_task import parse_files
from density_study.jobs.spark.run_tables import describe
from density_study.workloads import tables
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.searches import answers
from density_study.workloads.rows.arrays.arrow_tables import with_codes, writer_of
from density_study.workloads.rows.raw.counter_rows import region_rows
from density_study.workloads.rows.raw.manifest_rows import (
    Row,
    bring_up_rows,
    client_rows,
    manifests_of,
    monitor_rows,
    node_rows,
    trial_row,
)
from density_study.workloads.rows.raw.raw_files import RawFile, raw_files_of
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.storage import place
from density_study.workloads.tables.store import (
    dataset,
    replace,
    staging,
    table_path,
    take_parts,
    write_parquet,
    write_rows,
)

log = logging.getLogger(__name__)

# As in Spark's own readers. Memory does not depend on it, because rows are written as they are read.
BYTES_PER_TASK = 2**27
MIN_BYTES_PER_TASK = 2**21
# Minimum, so that no core waits long for the last task of another; a task takes 20 to 40 ms to start.
TASKS_PER_CORE = 2
# Less data is parsed in this process, because starting an executor's Python takes longer.
SMALL_BYTES = 2**23


def ingest(session: Callable[[], SparkSession], run_root: Path) -> None:
    """Write every table that is read from the records. Idempotent, also after a crash.

    session: called only for enough data. StudyError without a record, or for a manifest with an unknown
    format.
    """
    manifests = manifests_of(run_root)
    for table, rows in _from_manifests(manifests):
        write_rows(run_root, table, rows)
    files = raw_files_of(run_root, manifests)
    digests = {trial: ingest_state.digest(found) for trial, found in files.items()}
    known = ingest_state.read(run_root)
    kept = {trial for trial, value in digests.items() if known.get(trial) == value}
    log.info("%d of %d records are already ingested", len(kept), len(digests))
    if kept == digests.keys() == known.keys() and known:
        return
    ingest_state.forget(run_root)
    new = [file for trial, found in files.items() if trial not in kept for file in found]
    ingest_files(session, run_root, new, kept)
    ingest_state.remember(run_root, digests)


def ingest_files(
    session: Callable[[], SparkSession],
    run_root: Path,
    files: Sequence[RawFile],
    kept: Set[str] = frozenset(),
) -> None:
    """Write the tables of raw files: rows read from `files`, and existing rows of the `kept` trials. Each
    table is replaced completely."""
    written: dict[str, list[Path]] = {table.name: [] for table in ingest_state.from_files()}
    with staging(run_root) as folder:
        for parts in _parse(session, run_root, files, str(folder)):
            for table, path in parts.items():
                written[table].append(place(path))
        for made in ingest_state.from_files():
            replace(run_root, made, partial(_fill, run_root, made, written[made.name], kept))


def _parse(
    session: Callable[[], SparkSession], run_root: Path, files: Sequence[RawFile], folder: str
) -> Iterable[dict[str, str]]:
    """Files written below `folder` by the successful attempt of each task, by table."""
    task = partial(parse_files, folder=folder)
    if sum(file.bytes for file in files if not file.fault) < SMALL_BYTES:
        return [task(group) for group in task_groups(files, 1)]
    spark = session()
    describe(spark, f"ingest {len(files)} raw files of {run_root.name}")
    context = spark.sparkContext
    groups = list(task_groups(files, context.defaultParallelism))
    return context.parallelize(groups, len(groups)).map(task).collect()


def task_groups(files: Sequence[RawFile], cores: int) -> Iterator[list[RawFile]]:
    """Groups of files, one per task, in the order of trials, so that tables are almost sorted."""
    total = sum(file.bytes for file in files if not file.fault)
    enough = min(BYTES_PER_TASK, max(MIN_BYTES_PER_TASK, ceil(total / (cores * TASKS_PER_CORE))))
    group: list[RawFile] = []
    size = 0
    for file in sorted(files, key=lambda f: (f.trial, f.kind, f.subject, f.file)):
        if size >= enough and not _merged_together(group[-1], file):
            yield group
            group, size = [], 0
        group.append(file)
        size += 0 if file.fault else file.bytes
    if group:
        yield group


def _merged_together(one: RawFile, other: RawFile) -> bool:
    """Whether both are interval logs of one trial: its percentiles need all of them in one task."""
    return (one.trial, one.kind) == (other.trial, other.kind) and one.kind == "ycsb-hdr"


def _fill(
    run_root: Path, table: Table, parts: Sequence[Path], kept: Set[str], folder: Path
) -> None:
    """Fill the table's new folder with the written files and the rows kept from the old folder."""
    take_parts(parts, folder)
    rows = _kept_rows(run_root, table, kept) if kept else None
    if rows is not None:
        with (folder / "part-kept.parquet").open("wb") as sink, writer_of(table, sink) as writer:
            for batch in rows:
                writer.write_table(with_codes(pa.Table.from_batches([batch])))
    elif not parts:
        write_parquet(arrow_schema(table).empty_table(), folder / "part-0.parquet")


def _kept_rows(run_root: Path, table: Table, kept: Set[str]) -> Iterable[pa.RecordBatch] | None:
    if not table_path(run_root, table).exists():
        return None
    condition = pc.field("trial").isin(pa.array(sorted(kept), pa.string()))
    batches: Iterable[pa.RecordBatch] = (
        dataset(run_root, table).scanner(filter=condition).to_batches()
    )
    return batches


def _from_manifests(manifests: Sequence[Manifest]) -> Iterator[tuple[Table, list[Row]]]:
    answering = answers(manifests)
    yield tables.TRIALS, [trial_row(manifest, answering) for manifest in manifests]
    yield tables.NODES, [row for manifest in manifests for row in node_rows(manifest)]
    yield tables.CLIENTS, [row for manifest in manifests for row in client_rows(manifest)]
    yield tables.MONITORS, [row for manifest in manifests for row in monitor_rows(manifest)]
    yield tables.REGIONS, [row for manifest in manifests for row in region_rows(manifest)]
    yield tables.BRING_UP, list(bring_up_rows(manifests))
