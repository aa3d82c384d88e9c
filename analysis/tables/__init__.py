"""Every table jobs and analysis meet at: columns, types, units, keys, meaning. Declared once, here.

Standard library only: Spark executors load this module. `jobs/spark/spark_types.py` derives Spark types from
it, `analysis/tables/store.py` Arrow types. `make tables` writes the page of documentation, docs/tables.md.

Times are epoch seconds by the clock of the machine that wrote them; `clock_offset_s` columns say how
far that clock is ahead of the controller's. A null is "not known", never zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.tables.aggregates import (
    HOST_DISK_SERIES,
    HOST_USE,
    LATENCY_PERCENTILES,
    MONITOR_ROUNDS,
    NODE_USE,
    OPERATION_SECONDS,
)
from analysis.tables.manifests import BRING_UP, CLIENTS, MONITORS, NODES, TRIALS
from analysis.tables.raw import (
    DFSIO_IO,
    DFSIO_RESULTS,
    HOST_SAMPLES,
    MAP_ATTEMPTS,
    MAPREDUCE_JOBS,
    NODE_CPU_SAMPLES,
    QUARANTINE,
    YCSB_HISTOGRAMS,
    YCSB_STATUS,
    YCSB_SUMMARY,
)
from analysis.tables.results import CHECKS, METRICS, SETTING_METRICS, VERDICTS
from analysis.tables.series import (
    BRING_UP_TIMES,
    PRICE_PERFORMANCE,
    STEADINESS,
    TRIAL_CPU_SERIES,
    TRIAL_RATE_SERIES,
)
from analysis.tables.table import Column, Table, Type

__all__ = [
    "BRING_UP",
    "BRING_UP_TIMES",
    "CHECKS",
    "CLIENTS",
    "DFSIO_IO",
    "DFSIO_RESULTS",
    "HOST_DISK_SERIES",
    "HOST_SAMPLES",
    "HOST_USE",
    "LATENCY_PERCENTILES",
    "MAPREDUCE_JOBS",
    "MAP_ATTEMPTS",
    "METRICS",
    "MONITORS",
    "MONITOR_ROUNDS",
    "NODES",
    "NODE_CPU_SAMPLES",
    "NODE_USE",
    "OPERATION_SECONDS",
    "PRICE_PERFORMANCE",
    "QUARANTINE",
    "SETTING_METRICS",
    "STEADINESS",
    "TABLES",
    "TRIALS",
    "TRIAL_CPU_SERIES",
    "TRIAL_RATE_SERIES",
    "VERDICTS",
    "YCSB_HISTOGRAMS",
    "YCSB_STATUS",
    "YCSB_SUMMARY",
    "Column",
    "Table",
    "Type",
    "markdown",
]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TRIALS,
        NODES,
        CLIENTS,
        MONITORS,
        HOST_SAMPLES,
        NODE_CPU_SAMPLES,
        DFSIO_RESULTS,
        DFSIO_IO,
        MAPREDUCE_JOBS,
        MAP_ATTEMPTS,
        YCSB_SUMMARY,
        YCSB_STATUS,
        YCSB_HISTOGRAMS,
        BRING_UP,
        QUARANTINE,
        HOST_USE,
        NODE_USE,
        MONITOR_ROUNDS,
        HOST_DISK_SERIES,
        OPERATION_SECONDS,
        LATENCY_PERCENTILES,
        CHECKS,
        VERDICTS,
        METRICS,
        SETTING_METRICS,
        TRIAL_CPU_SERIES,
        TRIAL_RATE_SERIES,
        STEADINESS,
        BRING_UP_TIMES,
        PRICE_PERFORMANCE,
    )
}


_LAYOUT = """\
Each is a folder of Parquet files, `runs/<study>/<run-id>/tables/<table>/`, so that one study among many
is read alone. Times are epoch seconds by the clock of the machine that wrote them; `clock_offset_s`
says how far that clock is ahead of the controller's. A null is "not known", never zero."""


def markdown() -> str:
    """The tables as one page of Markdown."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# Tables\n"
    yield "Made from `analysis/tables/__init__.py` by `make tables`; do not edit.\n"
    yield f"{_LAYOUT}\n"
    for table in TABLES.values():
        yield f"## {table.name}\n\n{table.meaning} Key: {', '.join(table.key)}.\n"
        yield "| column | type | unit | meaning |\n|---|---|---|---|"
        for column in table.columns:
            yield f"| {column.name} | {column.type} | {column.unit} | {column.meaning} |"
        yield ""
