"""`TrialRows`: the tables of one trial, as the facts of `workloads` read them: from a record, or from a
run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from density_study.workloads.base.rows import Array, Row
from density_study.workloads.rows.every_table import table_named
from density_study.workloads.tables import Table

Read = Callable[[Table, tuple[str, ...]], pa.Table]


class TrialRows:
    """The rows of one trial, by table. `read` converts the rows of a table with these columns; each table is
    converted once."""

    def __init__(self, trial: Row, read: Read) -> None:
        self.trial = trial
        self._read = read
        self._rows: dict[tuple[str, tuple[str, ...]], Sequence[Row]] = {}

    def of(self, table: str, *columns: str) -> Sequence[Row]:
        """The trial's rows of a table: all columns without numbers in lists, unless some are named."""
        key = (table, columns)
        if key not in self._rows:
            self._rows[key] = self._read(table_named(table), columns or _plain(table)).to_pylist()
        return self._rows[key]

    def arrays(self, table: str, *columns: str) -> Mapping[str, Array]:
        """As `Rows.arrays`."""
        rows = self._read(table_named(table), columns or _plain(table))
        return {name: _array(rows[name]) for name in rows.column_names}


@cache
def _plain(table: str) -> tuple[str, ...]:
    """The columns that are no histograms or other lists of numbers."""
    return tuple(c.name for c in table_named(table).columns if c.type not in ("longs", "doubles"))


def _array(column: pa.ChunkedArray) -> Array:
    kind = column.type
    if pa.types.is_boolean(kind):
        flags: Array = column.fill_null(False).to_numpy()
        return flags
    if pa.types.is_list(kind):
        whole = column.combine_chunks()
        ends = whole.offsets.to_numpy()
        flat = whole.values.to_numpy()
        lists = np.empty(len(whole), object)
        for place in range(len(whole)):
            lists[place] = flat[ends[place] : ends[place + 1]]
        return lists
    if pa.types.is_string(kind):
        return np.array(column.to_pylist(), object)
    return np.asarray(column.to_numpy(), float)
