"""What an executor does with a list of raw files. Loads parsers and Arrow, nothing heavier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from analysis.tables import Table
from jobs.raw_files import RawFile
from jobs.readers import read

FROM_FILES: tuple[Table, ...] = (
    tables.HOST_SAMPLES,
    tables.NODE_CPU_SAMPLES,
    tables.DFSIO_RESULTS,
    tables.DFSIO_IO,
    tables.MAPREDUCE_JOBS,
    tables.MAP_ATTEMPTS,
    tables.YCSB_SUMMARY,
    tables.YCSB_STATUS,
    tables.YCSB_HISTOGRAMS,
    tables.QUARANTINE,
)
ROWS_A_BATCH = 5_000


def parse_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On an executor: rows of the listed files, in batches of bounded size."""
    schema = pa.schema([(table.name, pa.struct(arrow_schema(table))) for table in FROM_FILES])
    rows: list[dict[str, Any]] = []
    for batch in batches:
        for listed in batch.to_pylist():
            for table, row in read(RawFile(**listed)):
                rows.append({table.name: row})
                if len(rows) == ROWS_A_BATCH:
                    yield pa.RecordBatch.from_pylist(rows, schema)
                    rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema)
