"""`Array`, and Arrow tables made of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]


def table_of(columns: dict[str, Any], schema: pa.Schema, rows: int) -> pa.Table:
    """A table with the schema's columns. A scalar is repeated, and a missing column is null."""
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
