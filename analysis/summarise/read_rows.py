"""Small tables of a run, which one of an older version may lack, as rows of metrics."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from density_study.workloads import tables
from density_study.workloads.study.metrics import main_rates
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import dataset, table_path

MEASURED_BY_SECOND = "operations"
"""TestDFSIO's `transferred` spreads the bytes of a map evenly over it: nothing measured its variation."""


def steadiness(run_root: Path) -> pd.DataFrame:
    """Rows of `metrics`: each trial's coefficient of variation of its rate by second, in percent."""
    rows = optional(run_root, tables.STEADINESS)
    rows = rows[rows["name"] == MEASURED_BY_SECOND]
    cv_percent = 100.0 * rows["coefficient_of_variation"].astype(float)
    return rows[["trial"]].assign(name="throughput_cv", unit="percent", value=cv_percent)


def case_steadiness(trial_rows: pd.DataFrame, valid: pd.DataFrame) -> pd.DataFrame:
    """Rows of `test_case_metrics` from those of `steadiness`: the unit is the build (method 1).

    valid: trial, topology, test case, repetition, build of the valid trials.
    """
    placed = trial_rows.merge(valid, on="trial").dropna(subset=["value"])
    keys = ["topology", "test_case"]
    builds = placed.groupby([*keys, "repetition", "build"], as_index=False)["value"].mean()
    values = builds.groupby(keys)["value"].agg(value="median", n="size", points=list)
    found: pd.DataFrame = values.reset_index().assign(name="throughput_cv", unit="percent")
    return found


def price_performance(run_root: Path) -> pd.DataFrame:
    """Rows of `test_case_metrics`: the main rate of each test case per USD per hour."""
    rows = optional(run_root, tables.PRICE_PERFORMANCE)
    rows = rows[rows["name"].isin(main_rates())]
    return rows.assign(name="price_performance", unit=rows["unit"].astype(str) + " per USD/h")


def usd_per_hour(run_root: Path) -> dict[str, float]:
    """The price of each topology that has one."""
    rows = optional(run_root, tables.PRICE_PERFORMANCE)
    return {
        str(topology): float(usd) for topology, usd in rows[["topology", "usd_per_hour"]].values
    }


def with_rows(table: Table, *frames: pd.DataFrame) -> pd.DataFrame:
    """The rows of all `frames`, typed as if they were read from `table`; a missing column is null."""
    schema = arrow_schema(table)
    whole = [frame.reindex(columns=schema.names).astype(object) for frame in frames]
    parts = [pa.Table.from_pandas(frame, schema, preserve_index=False) for frame in whole]
    every: pd.DataFrame = pa.concat_tables(parts).to_pandas()
    return every


def optional(run_root: Path, table: Table) -> pd.DataFrame:
    rows: pd.DataFrame = rows_of(run_root, table).to_table().to_pandas()
    return rows


def rows_of(run_root: Path, table: Table) -> ds.Dataset:
    """The table, or one without rows."""
    if table_path(run_root, table).is_dir():
        return dataset(run_root, table)
    return ds.dataset(arrow_schema(table).empty_table())
