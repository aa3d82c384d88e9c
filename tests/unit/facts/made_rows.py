"""The tables of one trial, made by hand: a column that a row does not name is null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from density_study.workloads.rows.every_table import table_named
from density_study.workloads.rows.trial_rows import TrialRows
from density_study.workloads.tables import TRIALS, Table
from density_study.workloads.tables.arrow import arrow_schema, arrow_table

Row = dict[str, Any]


def made_rows(trial: Row, rows: Mapping[str, Iterable[Row] | pa.Table]) -> TrialRows:
    """`rows`: by the table's name."""
    made = {
        name: given if isinstance(given, pa.Table) else arrow_table(table_named(name), list(given))
        for name, given in rows.items()
    }

    def read(table: Table, columns: tuple[str, ...]) -> pa.Table:
        whole = made.get(table.name, arrow_schema(table).empty_table())
        return whole.select(list(columns))

    whole = {**dict.fromkeys(TRIALS.column_names), "imported": False, "existing": False, **trial}
    return TrialRows(whole, read)
