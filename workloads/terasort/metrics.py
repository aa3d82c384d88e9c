"""Metrics of TeraSort."""

from __future__ import annotations

from density_study.workloads.base.metric import MetricKind

METRICS = (
    MetricKind(
        "throughput_sort", "MiB/s", "whole-job rate",
        "sorted bytes over the whole job, with YARN's start-up",
        better="higher", shown="rates",
    ),
    MetricKind(
        "sort_time", "s", "time of the sort", "from the job's submission to its end",
        better="lower", shown="list",
    ),
    MetricKind(
        "sort_map_phase", "s", "map phase of the sort",
        "from the first start of a map to the last end of one", better="lower", shown="list",
    ),
    MetricKind(
        "sort_reduce_phase", "s", "shuffle, merge and reduce",
        "from the last end of a map to the last end of a reduce", better="lower", shown="list",
    ),
    MetricKind(
        "sort_cpu", "s/GiB", "CPU time of the sort's tasks",
        "CPU time of all maps and reduces, by Hadoop's counters, for each GiB", better="lower",
    ),
    MetricKind(
        "sort_spills", "count", "spills of a row",
        "how often a row was written to local disks, by Hadoop's counters", better="lower",
        shown="list",
    ),
)  # fmt: skip
