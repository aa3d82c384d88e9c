"""`RecordRows`: the rows of the tables that one record gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from density_study.analysis import tables
from density_study.analysis.tables import Table
from density_study.jobs.ingest.file_tables import tables_of
from density_study.jobs.raw.manifest_rows import Row, client_rows, node_rows, trial_row
from density_study.jobs.raw.raw_files import raw_files
from density_study.workloads.record.manifest import Manifest

T = TypeVar("T")


class RecordRows:
    """Reads every file of the closed record in `record` once."""

    def __init__(self, manifest: Manifest, record: Path) -> None:
        self.manifest = manifest
        self.trial = trial_row(manifest)
        self.clients = list(client_rows(manifest))
        self.nodes = list(node_rows(manifest))
        self._pieces: dict[Table, list[pa.Table]] = defaultdict(list)
        for table, piece in tables_of(list(raw_files(manifest, record))):
            self._pieces[table].append(piece)

    def of(self, table: Table, *columns: str) -> Iterator[Row]:
        """The rows of `table`; all columns, unless some are named."""
        for piece in self._pieces[table]:
            yield from piece.select(list(columns) or piece.column_names).to_pylist()

    @cached_property
    def window_s(self) -> float | None:
        window = self.manifest.window
        length_s = window.end_epoch_s - window.start_epoch_s if window else 0.0
        return length_s if length_s > 0 else None

    @cached_property
    def hosts(self) -> list[Row]:
        """Rows of `host_cpu_usage` of machines (not of VMs), each with its used CPU as `used`."""
        rows = [row for row in self.of(tables.HOST_USE) if row["scope"].startswith("host:")]
        for row in rows:
            parts = [row[f"cpu_{part}"] for part in ("idle", "iowait", "steal")]
            row["used"] = None if None in parts else 100.0 - sum(parts)
        return [row for row in rows if row["measured_s"] > 0]


def over(amount: float | None, whole: float | None) -> float | None:
    """amount / whole; None if one is unknown, or `whole` is 0."""
    return amount / whole if amount is not None and whole else None


def if_all(values: list[T | None]) -> list[T] | None:
    """The values; None if there are none, or one is unknown: a partial sum would look like a whole one."""
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None
