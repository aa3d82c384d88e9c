"""A task of Spark: the facts of several trials of a run, as rows of tables."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from density_study.jobs.facts.rate_series import Series, rate_series, steadiness
from density_study.jobs.facts.run_rows import rows_of_trials
from density_study.jobs.facts.trial import trial_facts
from density_study.workloads import tables
from density_study.workloads.base.rows import Row
from density_study.workloads.rows.arrays.arrow_tables import table_of
from density_study.workloads.rows.trial_rows import TrialRows
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.storage import place

FACTS = (tables.METRICS, tables.CHECKS, tables.TRIAL_RATE_SERIES, tables.STEADINESS)


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
        **{table: pa.Table.from_pylist(rows, arrow_schema(table)) for table, rows in long.items()},
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
