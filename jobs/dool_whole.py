"""Whole files of dool, several at once: those that are one start of our monitor and plain rows to the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from analysis import tables
from jobs.byte_lines import Array
from jobs.coded_tables import coded, coded_schema
from jobs.columns import table_of
from jobs.dool_columns import EPOCH, TIME, follows, is_ours, named_columns, shares_hold, types_of
from jobs.dool_times import agree, texts_of
from jobs.plain_bodies import Body, Cells, body, cells
from jobs.raw_files import RawFile
from workloads.monitors.dool import DoolReader, Layout
from workloads.monitors.dool_header import Key, Start
from workloads.parsing import EXACT_INTEGER_LIMIT, RejectedError, decoded

SCHEMA = coded_schema(tables.HOST_SAMPLES)
_LONGEST_HEAD = 16
"""Lines above the first row; dool writes six."""
_OTHERS = 3 + 2  # of a time's text: letters and colons
_MARKS = 2  # its hyphen and blank


@dataclass(frozen=True)
class _Plain:
    """A file whose head the pure reader took, its first row included, and which goes on in plain rows."""

    file: RawFile
    layout: Layout
    start: Start
    body: Body


def dool_whole(files: Sequence[tuple[RawFile, bytes]]) -> tuple[list[pa.Table], set[RawFile]]:
    """Rows of `host_samples` with all their neighbours, texts as codes; and the files they are of. The
    others may hold anything."""
    alike: dict[object, list[_Plain]] = defaultdict(list)
    for file, data in files:
        if plain := _plain(file, data):
            alike[plain.layout.keys, plain.layout.units].append(plain)
    rows: list[pa.Table] = []
    done: set[RawFile] = set()
    for batch in alike.values():
        taken, whole = _rows(batch)
        rows += taken
        done |= whole
    return rows, done


def _plain(file: RawFile, data: bytes) -> _Plain | None:
    reader = DoolReader()
    begin = 0
    for number in range(1, _LONGEST_HEAD):
        end = data.find(b"\n", begin)
        line, unreadable = decoded(number, data[begin:end], True)
        if end < 0 or unreadable:
            return None
        try:
            row = reader.read(line)
        except RejectedError:
            return None
        if row is not None:
            return _below(file, data, begin, number, reader.layout())
        begin = end + 1
    return None


def _below(
    file: RawFile, data: bytes, begin: int, number: int, layout: Layout | None
) -> _Plain | None:
    """What the file is if its first row is line `number`, from byte `begin` on."""
    if layout is None or layout.start is None or not is_ours(layout):
        return None
    found = body(data, begin, number)
    marks = len(layout.keys) + _MARKS  # a newline, and commas between the cells
    if found is None or found.marks != marks * found.rows or found.others != _OTHERS * found.rows:
        return None
    return _Plain(file, layout, layout.start, found)


def _rows(batch: Sequence[_Plain]) -> tuple[list[pa.Table], set[RawFile]]:
    """Of files with the same columns and units."""
    layout = batch[0].layout
    found = cells([plain.body for plain in batch], types_of(layout))
    if found is None:
        return [], set()
    numbers = {key: found.numbers(n) for n, key in enumerate(layout.keys) if key != TIME}
    whole = found.wholly(_hold(batch, found, numbers))
    done = {plain.file for plain, sound in zip(batch, whole, strict=True) if sound}
    return found.only(_table(batch, found, numbers), whole), done


def _hold(batch: Sequence[_Plain], found: Cells, numbers: dict[Key, Array]) -> Array:
    """Which rows the pure reader surely takes, by their values."""
    epoch_s = numbers[EPOCH]
    texts = texts_of(found.columns[batch[0].layout.keys.index(TIME)])
    starts = [plain.start for plain in batch]
    progress = follows(epoch_s, found.before(epoch_s))
    progress[found.begins] = True  # that the first row may stand there, the reader has told
    with np.errstate(all="ignore"):  # numbers without bounds; none of them holds
        holds = agree(texts, epoch_s, starts, found.begins) & shares_hold(numbers, found.rows)
    for values in numbers.values():
        holds &= values < EXACT_INTEGER_LIMIT
    return holds & progress


def _table(batch: Sequence[_Plain], found: Cells, numbers: dict[Key, Array]) -> pa.Table:
    first = np.zeros(found.rows, bool)
    first[found.begins] = True
    named = {
        "trial": coded([plain.file.trial for plain in batch], found.counts),
        "host": coded([plain.file.subject for plain in batch], found.counts),
        "line": found.lines([plain.body for plain in batch]),
        "since_boot": first,
        "repeated": False,
        "since_epoch_s": _since(first, found.before(numbers[EPOCH])),
        **named_columns(batch[0].layout.units, numbers),
    }
    return table_of(named, SCHEMA, found.rows)


def _since(first: Array, before_s: Array) -> pa.Array:
    """When the sample before ended: of samples whose time goes on, that of the row before. The first
    one is since boot, so it has none, and is none to the second."""
    second = np.concatenate(([False], first[:-1]))
    return pa.array(before_s, mask=first | second)
