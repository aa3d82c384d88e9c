"""Fast path for well-formed CSV files: check them by counting bytes, then parse many with one call of Arrow.

Arrow accepts more than the pure parsers: signs, exponents, blanks, NaN and infinity. A file has none of
these if all its bytes are accounted for: digits and points of numbers, separators between cells, and
texts, which are checked by value. Counting bytes takes a tenth of the time of matching lines with a pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from density_study.workloads.rows.arrays.arrow_tables import Array

# Distance of the bytes that are probed for a newline within one step. So no line is longer than two
# steps, which is the csv module's limit for a cell.
_STEP = 2**16
_NEWLINE, _POINT, _ZERO, _NINE = 10, ord("."), ord("0"), ord("9")


@dataclass(frozen=True)
class Body:
    """The rows of a file from line `first_line` on, each with a newline.

    marks: number of bytes below "0", without points; others: number of bytes above "9". No two bytes below
    "0" are adjacent, so no cell is empty and every point has a digit on both sides.
    """

    data: memoryview
    first_line: int
    rows: int
    marks: int
    others: int


def body(data: bytes, begin: int, first_line: int) -> Body | None:
    """The rows in `data` from byte `begin` on; None if some row is certainly not well-formed."""
    if (
        begin >= len(data)
        or data[-1:] != b"\n"
        or any(data.find(b"\n", at, at + _STEP) < 0 for at in range(begin, len(data), _STEP))
    ):
        return None
    raw = np.frombuffer(data, np.uint8)[begin:]
    low = raw < _ZERO
    if low[0] or (low[1:] & low[:-1]).any():
        return None
    points = np.count_nonzero(raw == _POINT)
    return Body(
        memoryview(data)[begin:],
        first_line,
        rows=int(np.count_nonzero(raw == _NEWLINE)),
        marks=int(np.count_nonzero(low) - points),
        others=int(np.count_nonzero(raw > _NINE)),
    )


@dataclass(frozen=True)
class Cells:
    """The concatenated rows of several bodies. `begins`: index of each body's first row."""

    columns: Sequence[pa.Array]
    counts: Array
    begins: Array

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def numbers(self, index: int) -> Array:
        values: Array = self.columns[index].to_numpy()
        return values

    def each(self, values: Sequence[object] | Array) -> Array:
        """One value per body, repeated for each of its rows."""
        return np.repeat(np.asarray(values), self.counts)

    def owners(self) -> Array:
        """For each row, the index of its body."""
        return self.each(np.arange(len(self.counts)))

    def sums(self, values: Array) -> Array:
        """The sum of `values` per body."""
        totals: Array = np.add.reduceat(values, self.begins)
        return totals

    def lines(self, bodies: Sequence[Body]) -> Array:
        """For each row, its line number in its file."""
        first = self.begins - np.array([body.first_line for body in bodies])
        lines: Array = np.arange(self.rows) - self.each(first)
        return lines.astype(np.int32)

    def before(self, values: Array) -> Array:
        """For each row, the value of the previous row of its body; 0 for the first row."""
        shifted = np.empty_like(values)
        shifted[1:] = values[:-1]
        shifted[self.begins] = 0
        return shifted

    def wholly(self, holds: Array) -> Array:
        """For each body, whether the condition holds for all its rows."""
        whole: Array = np.logical_and.reduceat(holds, self.begins)
        return whole

    def only(self, rows: pa.Table, bodies: Array) -> list[pa.Table]:
        """The part of `rows` that belongs to the selected bodies."""
        if bodies.all():
            return [rows]
        taken = zip(self.begins[bodies], self.counts[bodies], strict=True)
        return [rows.slice(begin, count) for begin, count in taken]


def cells(bodies: Sequence[Body], types: Sequence[pa.DataType]) -> Cells | None:
    """Parse the bodies together. None if a row has too few or too many cells, or one of another type."""
    try:
        table = _read_csv(pa.py_buffer(b"".join(body.data for body in bodies)), types)
    except pa.ArrowInvalid:
        return None
    counts = np.array([body.rows for body in bodies])
    if table.num_rows != counts.sum():
        return None
    columns = [column.combine_chunks() for column in table.columns]
    return Cells(columns, counts, np.cumsum(counts) - counts)


def _read_csv(data: pa.Buffer, types: Sequence[pa.DataType]) -> pa.Table:
    """Parse cells without quotes. ArrowInvalid for too few or too many cells, or another type."""
    names = [f"c{n}" for n in range(len(types))]
    return pacsv.read_csv(
        pa.BufferReader(data),
        pacsv.ReadOptions(column_names=names, use_threads=False, block_size=data.size + 1),
        pacsv.ParseOptions(quote_char=False),
        pacsv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)), null_values=[], check_utf8=False
        ),
    )
