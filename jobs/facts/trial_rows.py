"""`TrialRows`: the tables of one trial, as the facts of `workloads` read them: from a record, or from a
run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from density_study.analysis.tables import TABLES, TRIALS, Table
from density_study.analysis.tables.arrow import arrow_schema
from density_study.analysis.tables.store import dataset, require
from density_study.workloads.base.rows import Array, Row

Read = Callable[[Table, tuple[str, ...]], pa.Table]


class TrialRows:
    """Each table is converted once. read: the trial's rows of a table, with these columns."""

    def __init__(self, trial: Row, read: Read) -> None:
        self.trial = trial
        self._read = read
        self._rows: dict[tuple[str, tuple[str, ...]], Sequence[Row]] = {}

    def of(self, table: str, *columns: str) -> Sequence[Row]:
        """The trial's rows of a table: all columns without numbers in lists, unless some are named."""
        key = (table, columns)
        if key not in self._rows:
            self._rows[key] = self._read(TABLES[table], columns or _plain(table)).to_pylist()
        return self._rows[key]

    def arrays(self, table: str, *columns: str) -> Mapping[str, Array]:
        """The same by column: null is NaN in numbers, False in flags and None in texts."""
        rows = self._read(TABLES[table], columns or _plain(table))
        return {name: _array(rows[name]) for name in rows.column_names}


@cache
def _plain(table: str) -> tuple[str, ...]:
    """Without histograms and other lists of numbers."""
    return tuple(c.name for c in TABLES[table].columns if c.type not in ("longs", "doubles"))


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


def rows_of_trials(run_root: Path, trials: Sequence[str]) -> Iterator[TrialRows]:
    """The tables of these trials of a run; each is read once for all of them. StudyError if one is not
    there."""
    whole = _Shared(run_root, trials)
    rows = {row["trial"]: row for row in dataset(run_root, TRIALS).to_table().to_pylist()}
    for trial in trials:
        yield TrialRows(rows[trial], _reader(whole, trial))


def _reader(whole: _Shared, trial: str) -> Read:
    return lambda table, columns: whole.rows(trial, table, columns)


class _Shared:
    """The tables of several trials, divided by trial."""

    def __init__(self, run_root: Path, trials: Sequence[str]) -> None:
        self._run_root, self._trials = run_root, pa.array(trials, pa.string())
        self._divided: dict[tuple[Table, tuple[str, ...]], Mapping[str, pa.Table]] = {}

    def rows(self, trial: str, table: Table, columns: tuple[str, ...]) -> pa.Table:
        key = (table, columns)
        if key not in self._divided:
            self._divided[key] = self._by_trial(table, columns)
        found = self._divided[key].get(trial)
        return _empty(table, columns) if found is None else found

    def _by_trial(self, table: Table, columns: tuple[str, ...]) -> Mapping[str, pa.Table]:
        require(self._run_root, table)
        ours = pc.field("trial").isin(self._trials)
        names = list(dict.fromkeys(("trial", *columns)))
        rows = dataset(self._run_root, table).to_table(columns=names, filter=ours)
        order = pc.sort_indices(rows["trial"])  # stable, so that a trial's rows keep their order
        rows = rows.take(order).combine_chunks()
        counts = rows["trial"].value_counts().to_pylist()
        divided, begin = {}, 0
        for one in counts:
            divided[one["values"]] = rows.slice(begin, one["counts"]).select(list(columns))
            begin += one["counts"]
        return divided


def _empty(table: Table, columns: tuple[str, ...]) -> pa.Table:
    schema = arrow_schema(table)
    return pa.schema([schema.field(name) for name in columns]).empty_table()
