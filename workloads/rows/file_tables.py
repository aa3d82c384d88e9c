"""Read raw files into tables, and aggregate their rows: well-formed files in batches, others one by one.

Runs on Spark's executors, so it imports only parsers, Arrow and numpy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.rows.arrays.arrow_tables import codes, filled
from density_study.workloads.rows.histograms.decoder import Decoder
from density_study.workloads.rows.histograms.intervals import with_facts
from density_study.workloads.rows.histograms.trial_logs import TrialLogs
from density_study.workloads.rows.monitors.deltas import with_host_neighbours, with_node_neighbours
from density_study.workloads.rows.monitors.device_aggregates import device_tables
from density_study.workloads.rows.monitors.dool_bulk import dool_rows
from density_study.workloads.rows.monitors.host_aggregates import host_tables
from density_study.workloads.rows.monitors.node_aggregates import node_tables
from density_study.workloads.rows.monitors.nodecpu_bulk import nodecpu_rows
from density_study.workloads.rows.raw.raw_files import RawFile, UnreadableError
from density_study.workloads.rows.raw.readers import (
    bytes_of,
    interval,
    quarantined,
    read,
    rejected_file_row,
)
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_table
from density_study.workloads.ycsb.output.interval_log import parse_hdr

# Size of a batch: large enough to need few array calls, and small compared with an executor's memory.
BYTES_PER_BATCH = 2**23
FileTables = Iterator[tuple[Table, pa.Table]]
Bulk = Callable[[Sequence[tuple[RawFile, bytes]]], tuple[list[pa.Table], set[RawFile]]]


def tables_of(files: Sequence[RawFile]) -> FileTables:
    """The tables of `by_rows` for each file, but faster, and with the percentiles and rates of whole trials.
    The rows may be in another order, and texts may be dictionary-encoded."""
    for kind, alike in groupby(sorted(files, key=lambda file: file.kind), lambda file: file.kind):
        if kind == "ycsb-hdr":
            yield from _logs(alike)
        elif kind in BULK:
            for batch in _batches(alike):
                yield from _together(*BULK[kind], batch)
        else:
            for file in alike:
                yield from by_rows(file)


def by_rows(file: RawFile) -> FileTables:
    """Read any file with the pure readers: its rows, and a row of `quarantine` for each malformed line."""
    rows: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    for table, row in read(file):
        rows[table].append(row)
    for table, found in rows.items():
        whole = arrow_table(table, found)
        if table in COMPLETED:
            whole = COMPLETED[table](whole, file.facts)
        yield table, whole
        yield from summed(table, whole, [(file, len(whole))])


def _batches(files: Iterable[RawFile]) -> Iterator[list[RawFile]]:
    batch: list[RawFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.bytes
        if size >= BYTES_PER_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _together(table: Table, bulk: Bulk, files: Sequence[RawFile]) -> FileTables:
    """Read the well-formed files together, and the others with the pure readers, which report the faults."""
    contents = []
    for file in files:
        with suppress(UnreadableError):
            contents.append((file, bytes_of(file)))
    rows, done = bulk(contents)
    by_subject = {(file.trial, file.subject): file for file in done}
    for piece in rows:
        yield table, piece
        yield from summed(table, piece, [(by_subject[subject], n) for subject, n in _runs(piece)])
    for file in files:
        if file not in done:
            yield from by_rows(file)


def _runs(rows: pa.Table) -> Iterator[tuple[tuple[str, str], int]]:
    """The trial and host of each file, and the number of its rows, which are contiguous."""
    differs = np.ones(len(rows), bool)
    differs[1:] = np.any([np.diff(codes(rows[n])[0]) != 0 for n in ("trial", "host")], axis=0)
    begins = np.flatnonzero(differs)
    for begin, count in zip(begins.tolist(), np.diff(begins, append=len(rows)), strict=True):
        yield (rows["trial"][begin].as_py(), rows["host"][begin].as_py()), int(count)


def summed(table: Table, rows: pa.Table, files: Sequence[tuple[RawFile, int]]) -> FileTables:
    """Aggregates of the rows of complete files. files: each with the number of its rows, in the order of
    `rows`."""
    if table not in SUMMED:
        return
    subjects = [
        Subject(file.trial, file.kind, file.subject, count, file.facts) for file, count in files
    ]
    try:
        found = list(SUMMED[table](rows, subjects))
    except OverflowError as error:
        if len(files) == 1:
            yield _rejected(files[0][0], UnreadableError(str(error)))
            return
        begin = 0
        for file, count in files:  # aggregate each file by itself to find the faulty one
            yield from summed(table, rows.slice(begin, count), [(file, count)])
            begin += count
        return
    yield from ((one, sums) for one, sums in found if len(sums))


def _nodes(rows: pa.Table, subjects: Sequence[Subject]) -> FileTables:
    begin = 0
    for subject in subjects:
        yield from node_tables(rows.slice(begin, subject.rows), subject.facts)
        begin += subject.rows


def _logs(files: Iterable[RawFile]) -> FileTables:
    """Tables of interval logs, and the percentiles and rates of each trial over all its logs."""
    for trial, same in groupby(files, lambda file: file.trial):
        logs = TrialLogs()
        for file in same:
            for table, rows in log_tables(file):
                if table is tables.YCSB_HISTOGRAMS:
                    logs.add(rows, file.facts)
                yield table, rows
        if percentiles := logs.percentiles(trial):
            yield tables.LATENCY_PERCENTILES, percentiles
        if seconds := logs.seconds(trial):
            yield tables.OPERATION_SECONDS, seconds


def log_tables(file: RawFile) -> FileTables:
    """An interval log, its histograms decoded by the library: as `by_rows`, faster."""
    decoder = Decoder()
    try:
        parsed = parse_hdr(bytes_of(file), file.file, decoder.decode)
    except (UnreadableError, ParseError) as error:
        yield _rejected(file, error)
        return
    rows = [{"trial": file.trial, **interval(row, file)} for row in parsed.rows]
    value_us, counts = decoder.lists(row.payload for row in parsed.rows)
    intervals = filled(arrow_table(tables.YCSB_HISTOGRAMS, rows), value_us=value_us, counts=counts)
    yield tables.YCSB_HISTOGRAMS, with_facts(intervals, file.facts)
    if parsed.quarantined:
        bad = [quarantined(file, one.line, one.reason, one.text) for one in parsed.quarantined]
        yield tables.QUARANTINE, arrow_table(tables.QUARANTINE, bad)


def _rejected(file: RawFile, error: UnreadableError | ParseError) -> tuple[Table, pa.Table]:
    return tables.QUARANTINE, arrow_table(tables.QUARANTINE, [rejected_file_row(file, error)])


BULK: Mapping[str, tuple[Table, Bulk]] = MappingProxyType(
    {"dool": (tables.HOST_SAMPLES, dool_rows), "nodecpu": (tables.NODE_CPU_SAMPLES, nodecpu_rows)}
)
# For the rows of one whole file: the columns that follow from each other and from the trial.
COMPLETED: Mapping[Table, Callable[[pa.Table, TrialFacts], pa.Table]] = MappingProxyType(
    {
        tables.HOST_SAMPLES: lambda rows, _: with_host_neighbours(rows),
        tables.NODE_CPU_SAMPLES: lambda rows, _: with_node_neighbours(rows),
        tables.YCSB_HISTOGRAMS: with_facts,
    }
)
SUMMED: Mapping[Table, Callable[[pa.Table, Sequence[Subject]], FileTables]] = MappingProxyType(
    {
        tables.HOST_SAMPLES: host_tables,
        tables.NODE_CPU_SAMPLES: _nodes,
        tables.DEVICE_SAMPLES: device_tables,
    }
)
