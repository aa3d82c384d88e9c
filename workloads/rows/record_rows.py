"""The tables that one closed record gives."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.file_tables import tables_of
from density_study.workloads.rows.raw.manifest_rows import (
    client_rows,
    monitor_rows,
    node_rows,
    trial_row,
)
from density_study.workloads.rows.raw.raw_files import raw_files
from density_study.workloads.rows.trial_rows import TrialRows
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema


def record_rows(manifest: Manifest, record: Path) -> TrialRows:
    """Reads every file of the closed record in `record` once."""
    pieces: dict[Table, list[pa.Table]] = defaultdict(list)
    for table, piece in tables_of(list(raw_files(manifest, record))):
        pieces[table].append(piece)
    for table, rows in (
        (tables.CLIENTS, client_rows(manifest)),
        (tables.NODES, node_rows(manifest)),
        (tables.MONITORS, monitor_rows(manifest)),
    ):
        pieces[table].append(pa.Table.from_pylist(list(rows), arrow_schema(table)))

    def read(table: Table, columns: tuple[str, ...]) -> pa.Table:
        schema = arrow_schema(table)
        wanted = pa.schema([schema.field(name) for name in columns])
        found = [piece.select(list(columns)).cast(wanted) for piece in pieces[table]]
        return pa.concat_tables([wanted.empty_table(), *found])

    # what the workload does not know is null
    return TrialRows({**dict.fromkeys(tables.TRIALS.column_names), **trial_row(manifest)}, read)
