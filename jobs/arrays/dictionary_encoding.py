"""Dictionary-encoded tables, as they are written: texts that many rows share are stored once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.tables import Table
from analysis.tables.arrow import arrow_schema
from jobs.arrays.array import Array

_CODED = pa.dictionary(pa.int32(), pa.string())


@cache
def coded_schema(table: Table) -> pa.Schema:
    """`table` as an Arrow schema with dictionary-encoded texts."""
    return pa.schema([(field.name, _written(field.type)) for field in arrow_schema(table)])


def _written(type: pa.DataType) -> pa.DataType:
    return _CODED if type == pa.string() else type


def coded(values: Sequence[str], counts: Array) -> pa.DictionaryArray:
    """A dictionary-encoded array of texts, each repeated `counts` times."""
    codes = {text: code for code, text in enumerate(dict.fromkeys(values))}
    indices = np.repeat(np.array([codes[text] for text in values], np.int32), counts)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(codes), pa.string()))


def with_codes(rows: pa.Table) -> pa.Table:
    """`rows` with all texts dictionary-encoded."""
    for place, field in enumerate(rows.schema):
        if field.type == pa.string():
            column = rows.column(place).dictionary_encode()
            rows = rows.set_column(place, pa.field(field.name, column.type), column)
    return rows


def writer_of(table: Table, sink: IO[bytes]) -> pq.ParquetWriter:
    """Parquet writer for dictionary-encoded rows.

    Measured numbers seldom repeat, so they get no dictionary but a byte-stream split, which LZ4 compresses
    well: a seventh smaller than plain values with Snappy, written in half the time, and read as fast. They
    get no min/max statistics, which take a tenth of the writing time and which no query uses.
    """
    schema = coded_schema(table)
    texts = [field.name for field in schema if field.type == _CODED]
    lists = [field.name for field in schema if pa.types.is_list(field.type)]
    measured = [field.name for field in schema if field.type == pa.float64()]
    return pq.ParquetWriter(
        sink,
        schema,
        use_dictionary=[*texts, *(f"{name}.list.element" for name in lists)],
        use_byte_stream_split=measured,
        write_statistics=[name for name in schema.names if name not in measured],
        compression="lz4",
        store_schema=False,  # else Arrow would read codes
    )
