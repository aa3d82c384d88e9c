"""Tables that hold what the samples of one file, or the interval logs of one trial, add up to.

They are made where the raw files are read: a file's samples lie in arrays there.
"""

from __future__ import annotations

from analysis.tables.table import HOST, TRIAL, Table, column

_MEAN = "mean over the measured part; null if there is no sample"

HOST_USE = Table(
    "host_cpu_usage",
    "One row per host of a trial: dool's values in the trial's window after its ramp-up, the seconds of"
    " the rate. Means over the samples; those at the edges are weighted by the part inside.",
    ("trial", "host"),
    (
        TRIAL,
        HOST,
        column("scope", "string", "host:<name>, or guest:<node>.<host>"),
        column("measured_s", "double", "part of the measured time covered by samples", "s"),
        column("cpu_user", "double", _MEAN, "percent"),
        column("cpu_system", "double", _MEAN, "percent"),
        column("cpu_iowait", "double", _MEAN, "percent"),
        column("cpu_steal", "double", _MEAN, "percent"),
        column("cpu_irq", "double", _MEAN, "percent"),
        column("cpu_idle", "double", _MEAN, "percent"),
        column("disk_read_bytes_s", "double", _MEAN, "B/s"),
        column("disk_write_bytes_s", "double", _MEAN, "B/s"),
        column("disk_read_ops_s", "double", _MEAN, "1/s"),
        column("disk_write_ops_s", "double", _MEAN, "1/s"),
        column(
            "cpu_used_whole",
            "double",
            "used CPU over the whole window, for comparison with the guests' accounts",
            "percent",
        ),
        column(
            "cpu_sum_error",
            "double",
            "how far the shares of a sample are from 100 % at most, within the window or not; null"
            " where a share is not known",
            "percent",
        ),
    ),
)

NODE_USE = Table(
    "node_cpu_usage",
    "One row per node of a trial: ticks that its processes spent in the window after its warm-up."
    " Increments between two rounds at its edges count by the part of them that lies inside.",
    ("trial", "host", "node"),
    (
        TRIAL,
        HOST,
        column("node", "string", "node's name, or monitor"),
        column("user_ticks", "double", "user time", "ticks"),
        column("system_ticks", "double", "system time", "ticks"),
        column("capacity_ticks", "double", "what the host's cores could have spent", "ticks"),
    ),
)

MONITOR_ROUNDS = Table(
    "monitor_rounds",
    "One row per monitor that sampled within the window of its trial.",
    ("trial", "kind", "host"),
    (
        TRIAL,
        column("kind", "string", "dool or nodecpu"),
        HOST,
        column("seen", "long", "times it sampled in the window"),
        column("lost", "long", "times it should have: missing between those, and around them"),
    ),
)

HOST_DISK_SERIES = Table(
    "host_disk_series",
    "One row per host and second of a trial: its disk traffic, computed as in trial_cpu_series.",
    ("trial", "host", "second"),
    (
        TRIAL,
        HOST,
        column("second", "int", "as in trial_cpu_series", "s"),
        column("disk_read_bytes_s", "double", "mean of the second", "B/s"),
        column("disk_write_bytes_s", "double", "mean of the second", "B/s"),
    ),
)

OPERATION_SECONDS = Table(
    "operation_seconds",
    "Operations of all the trial's clients that succeeded in each second: intervals of their logs, each"
    " spread evenly over its length. Seconds without operations have no row.",
    ("trial", "second"),
    (
        TRIAL,
        column("second", "int", "as in trial_cpu_series", "s"),
        column("operations", "double", "done in it"),
    ),
)

LATENCY_PERCENTILES = Table(
    "latency_percentiles",
    "Percentiles of the trial's merged histograms after the warm-up: of all clients' logs together.",
    ("trial", "operation", "latency_kind", "percentile"),
    (
        TRIAL,
        column("operation", "string", "READ, INSERT, SCAN, ..."),
        column("latency_kind", "string", "closed-loop or intended"),
        column("percentile", "double", "of the operations, from 0 up to below 100", "percent"),
        column(
            "value_us",
            "long",
            "this percentage took at most this long: top of a bucket; null with fewer than"
            " 10 / (1 - p) operations",
            "us",
        ),
        column("operations", "long", "operations behind it"),
    ),
)
