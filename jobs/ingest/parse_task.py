"""A Spark task of ingest: convert raw files to Parquet files.

Rows do not pass through the JVM: with a data source and Spark's Parquet writer, a million samples took five
times as long. A task may run twice (retry, speculation), so each attempt writes to its own folder, and only
the files of the successful attempt become part of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from density_study.workloads import tables
from density_study.workloads.rows.arrays.arrow_tables import with_codes, writer_of
from density_study.workloads.rows.file_tables import tables_of
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.tables import Table
from density_study.workloads.tables.storage import place

FROM_FILES: tuple[Table, ...] = (
    tables.HOST_SAMPLES,
    tables.NODE_CPU_SAMPLES,
    tables.DEVICE_SAMPLES,
    tables.DFSIO_RESULTS,
    tables.DFSIO_IO,
    tables.MAPREDUCE_JOBS,
    tables.MAP_ATTEMPTS,
    tables.YCSB_SUMMARY,
    tables.YCSB_STATUS,
    tables.YCSB_HISTOGRAMS,
    tables.YCSB_SCHEDULE,
    tables.PIPELINE_STAGES,
    tables.PIPELINE_ANSWERS,
    tables.QUARANTINE,
    tables.HOST_USE,
    tables.NODE_USE,
    tables.MONITOR_ROUNDS,
    tables.HOST_DISK_SERIES,
    tables.DEVICE_SERIES,
    tables.DEVICE_EVENTS,
    tables.MACHINE_SPEED,
    tables.TRIAL_CPU_SERIES,
    tables.LATENCY_PERCENTILES,
    tables.OPERATION_SECONDS,
)
BYTES_PER_GROUP = 2**25  # Arrow bytes per row group; bounds an executor's memory


@dataclass
class _Part:
    """One Parquet file, written a row group at a time."""

    table: Table
    path: str
    rows: list[pa.Table] = field(default_factory=list)
    size: int = 0
    sink: IO[bytes] | None = None
    writer: pq.ParquetWriter | None = None

    def add(self, rows: pa.Table) -> None:
        self.rows.append(with_codes(rows))
        self.size += rows.nbytes
        if self.size >= BYTES_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        if self.writer is None:
            self.sink = place(self.path).open("wb")
            self.writer = writer_of(self.table, self.sink)
        self.writer.write_table(pa.concat_tables(self.rows).unify_dictionaries())
        self.rows, self.size = [], 0

    def close(self) -> None:
        if self.rows:
            self.flush()
        if self.writer is not None and self.sink is not None:
            self.writer.close()
            self.sink.close()


def parse_files(files: Sequence[RawFile], folder: str) -> dict[str, str]:
    """Write the rows of the files below `folder`, as one Parquet file per table. Returns their
    paths, by table."""
    attempt = f"{folder}/{uuid4().hex}"
    place(attempt).mkdir(parents=True)
    parts: dict[Table, _Part] = {}
    for table, rows in tables_of(files):
        if table not in parts:
            parts[table] = _Part(table, f"{attempt}/{table.name}.parquet")
        parts[table].add(rows)
    for part in parts.values():
        part.close()
    return {table.name: part.path for table, part in parts.items()}
