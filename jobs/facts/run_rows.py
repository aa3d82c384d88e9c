"""The tables of a run, trial by trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from density_study.workloads.rows.trial_rows import Read, TrialRows
from density_study.workloads.tables import TRIALS, Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import dataset, require


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
