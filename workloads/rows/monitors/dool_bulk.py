"""Read well-formed dool files with Arrow's CSV reader: written by one start of our monitor, in UTC.

All other files are left to the pure `parse_dool`. The result is the same as that of `parse_dool`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.base.parsing import (
    EXACT_INTEGER_LIMIT,
    YEARS_S,
    RejectedError,
    decoded,
)
from density_study.workloads.monitors.dool import MIN_STEP_S, DoolReader, Layout
from density_study.workloads.monitors.dool_cells import (
    CPU,
    CPU_PARTS,
    CPU_SUM_TOLERANCE,
    VALUES,
    cpu_section,
)
from density_study.workloads.monitors.dool_header import DAY_S, Key, Start, Units
from density_study.workloads.rows.arrays.arrow_tables import Array, coded, coded_schema, table_of
from density_study.workloads.rows.arrays.bulk_csv import Body, Cells, body, cells
from density_study.workloads.rows.raw.raw_files import RawFile

SCHEMA = coded_schema(tables.HOST_SAMPLES)
EPOCH, TIME = ("epoch", "epoch"), ("system", "time")
_MAX_HEAD_LINES = 16  # dool writes six above the first row
_TIME_BYTES = len("Nov-20 17:44:42")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY_BYTES = len("Nov-20 ")
_MAX_DAYS = 400
_OTHERS = 3 + 2  # bytes above "9" in a time: three letters of the month, two colons
_MARKS = 2  # bytes below "0" in a time: a hyphen and a blank
_COLUMNS = {
    name: column for name, column in VALUES.items() if name in tables.HOST_SAMPLES.column_names
}


@dataclass(frozen=True)
class _Plain:
    """A file with well-formed rows. The pure reader has accepted its head and its first row."""

    file: RawFile
    layout: Layout
    start: Start
    body: Body


def dool_rows(files: Sequence[tuple[RawFile, bytes]]) -> tuple[list[pa.Table], set[RawFile]]:
    """Rows of `host_samples` with deltas and dictionary-encoded texts, and the files that were read. The
    other files are not well-formed."""
    alike: dict[object, list[_Plain]] = defaultdict(list)
    for file, data in files:
        if plain := _plain(file, data):
            alike[plain.layout.keys, plain.layout.units].append(plain)
    rows: list[pa.Table] = []
    done: set[RawFile] = set()
    for batch in alike.values():
        read, whole = _rows(batch)
        rows += read
        done |= whole
    return rows, done


def _plain(file: RawFile, data: bytes) -> _Plain | None:
    reader = DoolReader()
    begin = 0
    for number in range(1, _MAX_HEAD_LINES):
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
    """The file with its first row at line `number` and byte `begin`; None if it is not well-formed."""
    if layout is None or layout.start is None or not _is_ours(layout):
        return None
    found = body(data, begin, number)
    marks = len(layout.keys) + _MARKS  # includes the newline, and commas between the cells
    if found is None or found.marks != marks * found.rows or found.others != _OTHERS * found.rows:
        return None
    return _Plain(file, layout, layout.start, found)


def _is_ours(layout: Layout) -> bool:
    start = layout.start
    known = layout.last_s is not None and start is not None and start.epoch_s is not None
    return known and {EPOCH, TIME} <= set(layout.keys)


def _rows(batch: Sequence[_Plain]) -> tuple[list[pa.Table], set[RawFile]]:
    """Rows of files with the same columns and units."""
    keys = batch[0].layout.keys
    types = [pa.binary(_TIME_BYTES) if key == TIME else pa.float64() for key in keys]
    found = cells([plain.body for plain in batch], types)
    if found is None:
        return [], set()
    numbers = {key: found.numbers(n) for n, key in enumerate(keys) if key != TIME}
    whole = found.wholly(_hold(batch, found, numbers))
    done = {plain.file for plain, sound in zip(batch, whole, strict=True) if sound}
    return found.only(_table(batch, found, numbers), whole), done


def _hold(batch: Sequence[_Plain], found: Cells, numbers: dict[Key, Array]) -> Array:
    """Whether the pure reader certainly accepts each row, by its values."""
    epoch_s = numbers[EPOCH]
    texts = found.columns[batch[0].layout.keys.index(TIME)]
    before_s = found.before(epoch_s)
    follows = ~(epoch_s < before_s + MIN_STEP_S) & ~(epoch_s > before_s + DAY_S)
    follows[found.begins] = True  # the pure reader accepted the first row
    follows &= (epoch_s >= YEARS_S[0]) & (epoch_s <= YEARS_S[1])
    years = found.each([int(plain.start.date_text.split()[2]) for plain in batch])
    begun_s = found.each([plain.start.epoch_s for plain in batch]).astype(float)
    with np.errstate(all="ignore"):  # numbers without bounds; none of them holds
        holds = follows & _times_agree(_bytes_of(texts), epoch_s, years, begun_s)
        holds &= _shares_hold(numbers, found.rows)
    for values in numbers.values():
        holds &= values < EXACT_INTEGER_LIMIT
    return holds


def _bytes_of(cells: pa.FixedSizeBinaryArray) -> Array:
    raw = np.frombuffer(cells.buffers()[1], np.uint8).reshape(-1, _TIME_BYTES)
    rows: Array = raw[cells.offset : cells.offset + len(cells)]
    return rows


def _times_agree(texts: Array, epoch_s: Array, years: Array, begun_s: Array) -> Array:
    """Rows whose text is the time of their epoch, as `DoolReader` asks. A row is left out where the
    text may be of another day than the epoch, or of another year than the start's."""
    days = np.floor(np.clip(epoch_s, *YEARS_S) / DAY_S)
    agree, clock_s = _clock(texts)
    different = np.unique(days)
    if len(different) > _MAX_DAYS:
        return np.zeros(len(days), bool)
    for day in different:
        date = datetime.fromtimestamp(day * DAY_S, UTC)
        text = f"{_MONTHS[date.month - 1]}-{date.day:02d} ".encode()
        of_day = slice(None) if len(different) == 1 else days == day
        agree[of_day] &= (texts[of_day, :_DAY_BYTES] == np.frombuffer(text, np.uint8)).all(axis=1)
        agree[of_day] &= years[of_day] == date.year
    text_s = days * DAY_S + clock_s
    agree &= (text_s >= begun_s - DAY_S) & (text_s >= YEARS_S[0])
    apart_s = epoch_s - text_s
    agree &= (apart_s >= -0.001) & (apart_s < 1.001)
    return agree


def _clock(texts: Array) -> tuple[Array, Array]:
    """Which texts end in a time of day, and its seconds."""
    sound = (texts[:, 9] == ord(":")) & (texts[:, 12] == ord(":"))
    clock_s = np.zeros(len(texts), np.int32)
    for place, limit in ((7, 24), (10, 60), (13, 60)):
        tens, ones = texts[:, place] - ord("0"), texts[:, place + 1] - ord("0")
        part = tens * 10 + ones
        sound &= (tens <= 9) & (ones <= 9) & (part < limit)
        clock_s = clock_s * 60 + part
    return sound, clock_s


def _shares_hold(numbers: dict[Key, Array], rows: int) -> Array:
    section = cpu_section(numbers)
    if section is None:
        return np.ones(rows, bool)
    parts = [numbers[section, name] for name in CPU_PARTS if (section, name) in numbers]
    holds: Array = np.abs(_added(parts) - 100) <= CPU_SUM_TOLERANCE
    return holds


def _added(parts: list[Array]) -> Array:
    """The sum from left to right, as Python adds: another order differs in the last bit."""
    total = np.zeros(len(parts[0]))
    for part in parts:
        total = total + part
    return total


def _table(batch: Sequence[_Plain], found: Cells, numbers: dict[Key, Array]) -> pa.Table:
    first = np.zeros(found.rows, bool)
    first[found.begins] = True
    second = np.concatenate(([False], first[:-1]))
    named = {
        "trial": coded([plain.file.trial for plain in batch], found.counts),
        "host": coded([plain.file.subject for plain in batch], found.counts),
        "line": found.lines([plain.body for plain in batch]),
        "since_boot": first,
        "repeated": False,
        # the first sample is a mean since boot: it has no predecessor, and is none
        "since_epoch_s": pa.array(found.before(numbers[EPOCH]), mask=first | second),
        **_named(batch[0].layout.units, numbers),
    }
    return table_of(named, SCHEMA, found.rows)


def _named(units: Units, numbers: dict[Key, Array]) -> dict[str, Any]:
    """The table's columns of measured values."""
    factors = {"disk": units.disk, "net": units.net, "memory": units.memory, "": 1.0}
    named: dict[str, Any] = {
        name: numbers[key] if factors[unit] == 1 else numbers[key] * factors[unit]
        for name, (key, unit) in _COLUMNS.items()
        if key in numbers
    }
    section = cpu_section(numbers)
    if section is not None:
        shares = {name: (section, part) for name, part in CPU.items()}
        named |= {name: numbers[key] for name, key in shares.items() if key in numbers}
        irq = [numbers[section, name] for name in ("hiq", "siq") if (section, name) in numbers]
        named |= {"cpu_irq": _added(irq)} if irq else {}
    return {"epoch_s": numbers[EPOCH], **named}
