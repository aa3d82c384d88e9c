"""A task of Spark: the facts of several trials of a run, as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from density_study.jobs.facts.rate_series import Series, rate_series, steadiness
from density_study.jobs.facts.trial import trial_facts
from density_study.workloads import tables
from density_study.workloads.base.rows import Row
from density_study.workloads.rows.arrays.arrow_tables import table_of
from density_study.workloads.rows.trial_rows import Read, TrialRows
from density_study.workloads.tables import TRIALS, Table
from density_study.workloads.tables.arrow import arrow_schema, arrow_table
from density_study.workloads.tables.storage import place
from density_study.workloads.tables.store import dataset, ordered, require, write_parquet

FACTS = (tables.METRICS, tables.CHECKS, tables.TRIAL_RATE_SERIES, tables.STEADINESS)


def write_part(run_root: str, folder: str, trials: Sequence[str]) -> dict[str, str]:
    """A Parquet file of each table's rows, by the table's name. Paths and not rows: those of all tasks would
    not fit in the memory of Spark's driver."""
    attempt = f"{folder}/{uuid4().hex}"  # its own folder, because a task may run twice
    place(attempt).mkdir(parents=True)
    written = {}
    for table, rows in facts_of_trials(run_root, trials).items():
        written[table.name] = f"{attempt}/{table.name}.parquet"
        write_parquet(ordered(table, rows), place(written[table.name]))
    return written


def facts_of_trials(run_root: str, trials: Sequence[str]) -> dict[Table, pa.Table]:
    """Rows of FACTS of these trials; a task of Spark for a large run."""
    metrics: list[Row] = []
    checks: list[Row] = []
    steady: list[Row] = []
    seconds: list[pa.Table] = [arrow_schema(tables.TRIAL_RATE_SERIES).empty_table()]
    for rows in rows_of_trials(place(run_root), trials):
        trial = {"trial": rows.trial["trial"]}
        facts = trial_facts(rows)
        metrics += [trial | one for one in facts.metrics]
        checks.append(trial | facts.checks)
        for series in rate_series(rows):
            seconds.append(_seconds(rows, series))
            found = steadiness(rows.trial, series)
            steady += [trial | found] if found else []
    long = {tables.METRICS: metrics, tables.CHECKS: checks, tables.STEADINESS: steady}
    return {
        tables.TRIAL_RATE_SERIES: pa.concat_tables(seconds),
        **{table: arrow_table(table, rows) for table, rows in long.items()},
    }


def _seconds(rows: TrialRows, series: Series) -> pa.Table:
    columns = {
        "trial": rows.trial["trial"],
        "name": series.name,
        "unit": series.unit,
        "second": series.second,
        "rate": series.rate,
    }
    return table_of(columns, arrow_schema(tables.TRIAL_RATE_SERIES), len(series.second))


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
