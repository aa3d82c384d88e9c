"""Metrics of Spark SQL."""

from __future__ import annotations

from density_study.workloads.base.metric import MetricKind

METRICS = (
    MetricKind(
        "throughput_sql", "MiB/s", "rate of queries",
        "size of the table over the mean time of a query", better="higher", shown="rates",
    ),
    MetricKind(
        "sql_aggregate", "s", "scan, filter, aggregate",
        "time of the query that filters and sums, from cold disks", better="lower", shown="list",
    ),
    MetricKind(
        "sql_join", "s", "join", "time of the join of the table with half of itself",
        better="lower", shown="list",
    ),
    MetricKind(
        "sql_sort", "s", "total order", "time to order all rows by a hash",
        better="lower", shown="list",
    ),
)  # fmt: skip
