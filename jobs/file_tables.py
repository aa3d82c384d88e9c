"""From a raw file to tables: by columns what is large, by the pure readers what is small.

Runs on Spark's executors. Loads parsers, Arrow and numpy, nothing heavier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from analysis.tables import Table
from jobs.hdr_decoder import Decoder
from jobs.host_tables import host_tables
from jobs.intervals import DERIVED, with_facts
from jobs.neighbours import with_host_neighbours, with_node_neighbours
from jobs.node_tables import node_tables
from jobs.raw_files import RawFile, UnreadableError
from jobs.readers import bytes_of, condemned, quarantined, read
from jobs.trial_facts import Subject, TrialFacts
from workloads.parsing import ParseError, Quarantined
from workloads.ycsb.hdr import IntervalRow, parse_hdr

FileTables = Iterator[tuple[Table, pa.Table]]


def file_tables(file: RawFile) -> FileTables:
    """The file's rows, and a row of `quarantine` for each line that gave none: `jobs.readers.read`,
    faster."""
    by_columns = BY_COLUMNS.get(file.kind)
    if by_columns is None:
        yield from by_rows(file)
        return
    try:
        table, pieces, lines = by_columns(bytes_of(file), file)
    except (UnreadableError, ParseError) as error:
        yield tables.QUARANTINE, _table(tables.QUARANTINE, [condemned(file, error)])
        return
    for piece in pieces:
        yield table, piece
        yield from summed(table, piece, [(file, len(piece))])
    if lines:
        rows = [quarantined(file, bad.line, bad.reason, bad.text) for bad in lines]
        yield tables.QUARANTINE, _table(tables.QUARANTINE, rows)


def by_rows(file: RawFile) -> FileTables:
    """The same by the pure readers, whatever the file."""
    rows: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    for table, row in read(file):
        rows[table].append(row)
    for table, found in rows.items():
        whole = _completed(table, _table(table, found), file.facts)
        yield table, whole
        yield from summed(table, whole, [(file, len(whole))])


def summed(table: Table, rows: pa.Table, files: Sequence[tuple[RawFile, int]]) -> FileTables:
    """What the rows of whole files add up to. files: each with how many of `rows` are its own; they
    lie behind each other."""
    add_up = SUMMED.get(table)
    if add_up is None:
        return
    subjects = [Subject(file.trial, file.subject, count, file.facts) for file, count in files]
    try:
        found = list(add_up(rows, subjects))
    except OverflowError as error:
        if len(files) == 1:
            told = condemned(files[0][0], UnreadableError(str(error)))
            yield tables.QUARANTINE, _table(tables.QUARANTINE, [told])
            return
        begin = 0
        for file, count in files:  # whose it is shows when each is added up by itself
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


ByColumns = tuple[Table, list[pa.Table], list[Quarantined]]


def _hdr(data: bytes, file: RawFile) -> ByColumns:
    decoder = Decoder()
    parsed = parse_hdr(data, file.file, decoder.decode)
    histograms = _histograms(parsed.rows, decoder, file)
    whole = _completed(tables.YCSB_HISTOGRAMS, histograms, file.facts)
    return tables.YCSB_HISTOGRAMS, [whole], list(parsed.quarantined)


def _histograms(rows: tuple[IntervalRow, ...], decoder: Decoder, file: RawFile) -> pa.Table:
    schema = arrow_schema(tables.YCSB_HISTOGRAMS)
    measured = [row.measurement for row in rows]
    columns: dict[str, Any] = {
        "trial": [file.trial] * len(rows),
        "client": [file.subject] * len(rows),
        "file": [file.file] * len(rows),
        "line": [row.line for row in rows],
        "operation": [each.operation for each in measured],
        "outcome": [each.outcome for each in measured],
        "kind": ["intended" if row.intended else "closed-loop" for row in rows],
        "start_epoch_s": [row.start_epoch_s for row in rows],
        "length_s": [row.length_s for row in rows],
        "operations": [row.operations for row in rows],
    }
    arrays = [
        pa.array(columns[field.name], field.type) for field in schema if field.name in columns
    ]
    lists = decoder.lists([row.payload for row in rows])
    later = [pa.nulls(len(rows), field.type) for field in schema if field.name in DERIVED]
    return pa.Table.from_arrays([*arrays, *lists, *later], schema=schema)


BY_COLUMNS: Mapping[str, Callable[[bytes, RawFile], ByColumns]] = MappingProxyType(
    {"ycsb-hdr": _hdr}
)
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
