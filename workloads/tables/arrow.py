"""Arrow types of the tables that `workloads.tables` declares. Light: Spark's executors load it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from density_study.workloads.tables import Table, Type

_TYPES: dict[Type, pa.DataType] = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "strings": pa.list_(pa.string()),
    "longs": pa.list_(pa.int64()),
    "doubles": pa.list_(pa.float64()),
}


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """`table` as an Arrow schema; every column may be null."""
    return pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])


def arrow_table(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of `table`; what a row lacks is null."""
    return pa.Table.from_pylist(rows, arrow_schema(table))
