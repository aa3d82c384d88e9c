"""Every table that jobs and analysis share: columns, types, units, keys and meaning.

`tables.toml` declares them. `jobs/spark/run_tables.py` derives Spark types from them, `arrow.py` Arrow types,
and `make reference` writes docs/reference/tables.md. Standard library only: Spark's executors import this
module.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Type = Literal["string", "int", "long", "double", "boolean", "strings", "longs", "doubles"]


@dataclass(frozen=True)
class Column:
    """One column, in the order in which tables.toml lists its parts."""

    name: str
    type: Type
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """One Parquet table, `tables/<name>/`. No two rows agree in all columns of `key`."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def _declared() -> Iterator[Table]:
    text = Path(__file__).with_name("tables.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)
    shared = declared["columns"]
    for name, table in declared["tables"].items():
        rows = (shared[row] if isinstance(row, str) else row for row in table["columns"])
        columns = tuple(Column(*row) for row in rows)
        yield Table(name, table["meaning"], tuple(table["key"]), columns)


TABLES = {table.name: table for table in _declared()}
TRIALS = TABLES["trials"]
NODES = TABLES["nodes"]
CLIENTS = TABLES["clients"]
MONITORS = TABLES["monitors"]
HOST_SAMPLES = TABLES["host_samples"]
NODE_CPU_SAMPLES = TABLES["node_cpu_samples"]
DEVICE_SAMPLES = TABLES["device_samples"]
DFSIO_RESULTS = TABLES["dfsio_results"]
DFSIO_IO = TABLES["dfsio_io"]
MAPREDUCE_JOBS = TABLES["mapreduce_jobs"]
MAP_ATTEMPTS = TABLES["map_attempts"]
TERASORT_JOBS = TABLES["terasort_jobs"]
SQL_QUERIES = TABLES["sql_queries"]
YCSB_SUMMARY = TABLES["ycsb_summary"]
YCSB_STATUS = TABLES["ycsb_status"]
YCSB_HISTOGRAMS = TABLES["ycsb_histograms"]
YCSB_SCHEDULE = TABLES["ycsb_schedule"]
PIPELINE_STAGES = TABLES["pipeline_stages"]
PIPELINE_ANSWERS = TABLES["pipeline_answers"]
BRING_UP = TABLES["bring_up"]
QUARANTINE = TABLES["quarantine"]
HOST_USE = TABLES["host_cpu_usage"]
NODE_USE = TABLES["node_cpu_usage"]
MONITOR_ROUNDS = TABLES["monitor_rounds"]
HOST_DISK_SERIES = TABLES["host_disk_series"]
DEVICE_SERIES = TABLES["device_series"]
DEVICE_EVENTS = TABLES["device_events"]
MACHINE_SPEED = TABLES["machine_speed"]
OPERATION_SECONDS = TABLES["operation_seconds"]
LATENCY_PERCENTILES = TABLES["latency_percentiles"]
LATENCY_SECONDS = TABLES["latency_seconds"]
SLOW_SECONDS = TABLES["slow_seconds"]
TRIAL_CAUSES = TABLES["trial_causes"]
SERIES_MEANS = TABLES["series_means"]
REGIONS = TABLES["regions"]
CHECKS = TABLES["checks"]
VERDICTS = TABLES["verdicts"]
METRICS = TABLES["metrics"]
TEST_CASE_METRICS = TABLES["test_case_metrics"]
TRIAL_CPU_SERIES = TABLES["trial_cpu_series"]
TRIAL_RATE_SERIES = TABLES["trial_rate_series"]
STEADINESS = TABLES["steadiness"]
BRING_UP_TIMES = TABLES["bringup"]
PRICE_PERFORMANCE = TABLES["price_performance"]
