"""Read a raw file into tables, and aggregate its rows.

Runs on Spark's executors, so it imports only parsers, Arrow and numpy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from analysis import tables
from analysis.tables import Table
from analysis.tables.arrow import arrow_schema
from jobs.histograms.decoder import Decoder
from jobs.histograms.intervals import with_facts
from jobs.monitors.deltas import with_host_neighbours, with_node_neighbours
from jobs.monitors.host_aggregates import host_tables
from jobs.monitors.node_aggregates import node_tables
from jobs.raw.raw_files import RawFile, UnreadableError
from jobs.raw.readers import bytes_of, interval, quarantined, read, rejected_file_row
from jobs.raw.trial_context import Subject, TrialFacts
from workloads.base.parsing import ParseError
from workloads.ycsb.output.interval_log import parse_hdr

FileTables = Iterator[tuple[Table, pa.Table]]


def file_tables(file: RawFile) -> FileTables:
    """The rows of the file, and a row of `quarantine` for each malformed line."""
    yield from _log(file) if file.kind == "ycsb-hdr" else by_rows(file)


def by_rows(file: RawFile) -> FileTables:
    """Read any file with the pure readers."""
    rows: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    for table, row in read(file):
        rows[table].append(row)
    for table, found in rows.items():
        whole = _completed(table, _table(table, found), file.facts)
        yield table, whole
        yield from summed(table, whole, [(file, len(whole))])


def summed(table: Table, rows: pa.Table, files: Sequence[tuple[RawFile, int]]) -> FileTables:
    """Aggregates of the rows of complete files. files: each with the number of its rows, in the order of
    `rows`."""
    add_up = SUMMED.get(table)
    if add_up is None:
        return
    subjects = [Subject(file.trial, file.subject, count, file.facts) for file, count in files]
    try:
        found = list(add_up(rows, subjects))
    except OverflowError as error:
        if len(files) == 1:
            rejected = rejected_file_row(files[0][0], UnreadableError(str(error)))
            yield tables.QUARANTINE, _table(tables.QUARANTINE, [rejected])
            return
        begin = 0
        for file, count in files:  # aggregate each file alone to find the faulty one
            yield from summed(table, rows.slice(begin, count), [(file, count)])
            begin += count
        return
    yield from ((one, sums) for one, sums in found if len(sums))


def _nodes(rows: pa.Table, subjects: Sequence[Subject]) -> FileTables:
    begin = 0
    for subject in subjects:
        yield from node_tables(rows.slice(begin, subject.rows), subject.facts)
        begin += subject.rows


def _completed(table: Table, rows: pa.Table, facts: TrialFacts) -> pa.Table:
    """Rows of one whole file, with the columns that follow from each other and from the trial."""
    fill = COMPLETED.get(table)
    return fill(rows, facts) if fill else rows


def _table(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, arrow_schema(table))


def _log(file: RawFile) -> FileTables:
    """An interval log, its histograms decoded by the library: as `by_rows`, faster."""
    decoder = Decoder()
    try:
        parsed = parse_hdr(bytes_of(file), file.file, decoder.decode)
    except (UnreadableError, ParseError) as error:
        yield tables.QUARANTINE, _table(tables.QUARANTINE, [rejected_file_row(file, error)])
        return
    rows = [{"trial": file.trial, **interval(row, file)} for row in parsed.rows]
    intervals = _table(tables.YCSB_HISTOGRAMS, rows)
    lists = decoder.lists(row.payload for row in parsed.rows)
    for name, values in zip(("value_us", "counts"), lists, strict=True):
        place = intervals.schema.get_field_index(name)
        intervals = intervals.set_column(place, intervals.schema.field(place), values)
    yield (
        tables.YCSB_HISTOGRAMS,
        _completed(tables.YCSB_HISTOGRAMS, intervals, file.facts),
    )
    if parsed.quarantined:
        bad = [quarantined(file, one.line, one.reason, one.text) for one in parsed.quarantined]
        yield tables.QUARANTINE, _table(tables.QUARANTINE, bad)


COMPLETED: Mapping[Table, Callable[[pa.Table, TrialFacts], pa.Table]] = MappingProxyType(
    {
        tables.HOST_SAMPLES: lambda rows, _: with_host_neighbours(rows),
        tables.NODE_CPU_SAMPLES: lambda rows, _: with_node_neighbours(rows),
        tables.YCSB_HISTOGRAMS: with_facts,
    }
)
SUMMED: Mapping[Table, Callable[[pa.Table, Sequence[Subject]], FileTables]] = MappingProxyType(
    {tables.HOST_SAMPLES: host_tables, tables.NODE_CPU_SAMPLES: _nodes}
)
