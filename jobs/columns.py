"""How a monitor's file becomes columns: plain rows many at once, all other lines by the pure reader.

A plain row is one that the pure reader of its format surely accepts: a pattern of its text, then
comparisons on whole columns. What fails one of them is given to the pure reader, line by line, so that
rows and quarantine are the same whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from jobs.byte_lines import Array, ByteLines
from workloads.parsing import Line, Quarantined, RejectedError

LINES_A_BLOCK = 100_000
NUMBER = r"[0-9]{1,15}(\.[0-9]{1,15})?"
"""Below 2**53, and read alike by Arrow and by Python."""
Row = TypeVar("Row", covariant=True)


@dataclass(frozen=True)
class Block:
    """Consecutive plain lines: `cells` in columns, named c0, c1, ...; `lines` their numbers."""

    cells: pa.Table
    lines: Array

    def floats(self, index: int) -> Array:
        values: Array = self.cells.column(f"c{index}").to_numpy()
        return values

    def __len__(self) -> int:
        return len(self.lines)


class ColumnReader(Protocol[Row]):
    def pattern(self) -> tuple[str, list[pa.DataType]] | None:
        """What a plain row looks like now, and its cells' types; None: read the next line alone."""

    def take(self, block: Block) -> tuple[int, pa.Table]:
        """How many of the block's first lines are rows, and these; the state goes on behind them."""
        ...

    def read(self, line: Line) -> Row | None:
        """The pure reader: a row, None for a line without, or RejectedError."""


@dataclass(frozen=True)
class Columns(Generic[Row]):
    """Pieces in the file's order, and its quarantined lines."""

    pieces: list[pa.Table]
    quarantined: list[Quarantined]


def read_columns(
    lines: ByteLines,
    file: str,
    reader: ColumnReader[Row],
    to_table: Callable[[list[Row]], pa.Table],
) -> Columns[Row]:
    """Every line's rows, or its reason."""
    found: Columns[Row] = Columns([], [])
    single: list[Row] = []
    index, patience = 0, 1
    while index < len(lines):
        plain = reader.pattern()
        end = lines.run(index, plain[0]) if plain else index
        if plain and end > index:
            block = _block(lines, index, min(end, index + LINES_A_BLOCK), plain[1])
            taken, table = reader.take(block)
            if taken:
                found.pieces.extend([to_table(single)] if single else [])
                single = []
                found.pieces.append(table)
                index += taken
            if taken == len(block):
                patience = 1
                continue
            patience *= 2  # the same lines are not looked at again and again
        alone = patience if plain and end > index else 1
        for at in range(index, min(index + alone, len(lines))):
            _read_alone(lines, at, file, reader, single, found.quarantined)
        index = min(index + alone, len(lines))
    found.pieces.extend([to_table(single)] if single else [])
    return found


def _read_alone(
    lines: ByteLines,
    index: int,
    file: str,
    reader: ColumnReader[Row],
    rows: list[Row],
    quarantined: list[Quarantined],
) -> None:
    line, reason = lines.line(index)
    try:
        if reason is not None:
            raise RejectedError(reason)
        row = reader.read(line)
    except RejectedError as error:
        quarantined.append(line.quarantined(file, str(error)))
        return
    if row is not None:
        rows.append(row)


def _block(lines: ByteLines, first: int, end: int, types: list[pa.DataType]) -> Block:
    cells = read_cells(lines.block(first, end), types)
    return Block(cells.combine_chunks(), np.arange(first + 1, end + 1, dtype=np.int32))


def read_cells(data: pa.Buffer, types: Sequence[pa.DataType]) -> pa.Table:
    """Lines of cells without quotes, as columns c0, c1, ... ArrowInvalid where cells are too few, too
    many or of another type."""
    names = [f"c{n}" for n in range(len(types))]
    return pacsv.read_csv(
        pa.BufferReader(data),
        pacsv.ReadOptions(column_names=names, use_threads=False, block_size=data.size + 1),
        pacsv.ParseOptions(quote_char=False),
        pacsv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)), null_values=[], check_utf8=False
        ),
    )


def prefix(good: Array) -> int:
    """How many values stand before the first false one."""
    return len(good) if good.all() else int(np.argmin(good))


def table_of(columns: dict[str, Any], schema: pa.Schema, rows: int) -> pa.Table:
    """Columns in the schema's order; a scalar is repeated, one that is not named is null."""
    arrays = []
    for field in schema:
        value = columns.get(field.name)
        if isinstance(value, pa.Array):
            arrays.append(value)
        elif isinstance(value, np.ndarray):
            arrays.append(pa.array(value, field.type))
        elif pa.types.is_dictionary(field.type) and value is not None:
            codes = pa.array(np.zeros(rows, np.int32))
            arrays.append(pa.DictionaryArray.from_arrays(codes, pa.array([value])))
        else:
            arrays.append(pa.repeat(pa.scalar(value, field.type), rows))
    return pa.Table.from_arrays(arrays, schema=schema)
