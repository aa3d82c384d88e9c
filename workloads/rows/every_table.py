"""Every table: those of `tables.toml`, and those that workloads of other packages bring."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.workloads.tables import TABLES, Table

# The registry is imported where a workload of another package is asked for: it loads the models of test
# cases, which Spark's executors do not need for our own.


def tables_of_workloads() -> tuple[Table, ...]:
    from density_study.workloads.study.registry import kinds

    return tuple(table for kind in kinds().values() for table in kind.tables)


def every_table() -> Mapping[str, Table]:
    """Every table by its name."""
    return {**TABLES, **{table.name: table for table in tables_of_workloads()}}


def table_named(name: str) -> Table:
    """The table of that name."""
    return TABLES[name] if name in TABLES else every_table()[name]
