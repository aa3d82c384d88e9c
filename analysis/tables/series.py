"""Tables of what happened within a trial, second by second, and of what it cost: the report's drill-down."""

from __future__ import annotations

from analysis.tables.table import HOST, TRIAL, Table, column

_SECOND = column(
    "second",
    "int",
    "which second, controller's clock: n stands for [n, n + 1) after the window's start;"
    " negative before it",
    "s",
)
_PERCENT_OF_HOST = "of all cores of the host; null if the scope lacks it"

TRIAL_CPU_SERIES = Table(
    "trial_cpu_series",
    "One row per scope and second of a trial, from the monitors' start to their stop, including"
    " time outside the window. Means over the second, samples weighted by the part of"
    " them that lies in it; a second without a sample has no row.",
    ("trial", "scope", "host", "second"),
    (
        TRIAL,
        HOST,
        column(
            "scope",
            "string",
            "host:<name> (dool, the whole machine), node:<name>, client, monitor: as in metrics",
        ),
        _SECOND,
        column("cpu_user", "double", _PERCENT_OF_HOST, "percent"),
        column("cpu_system", "double", _PERCENT_OF_HOST, "percent"),
        column("cpu_iowait", "double", _PERCENT_OF_HOST, "percent"),
        column("cpu_steal", "double", _PERCENT_OF_HOST, "percent"),
        column("cpu_irq", "double", _PERCENT_OF_HOST, "percent"),
        column("cpu_idle", "double", _PERCENT_OF_HOST, "percent"),
    ),
)

TRIAL_RATE_SERIES = Table(
    "trial_rate_series",
    "One row per rate and second of a trial. A second without operations is a row with 0.",
    ("trial", "name", "second"),
    (
        TRIAL,
        column(
            "name",
            "string",
            "operations (YCSB, all clients: those that succeeded, each interval spread evenly over"
            " its length), transferred (TestDFSIO: the bytes of each map spread evenly from its"
            " start to its end), disk_read, disk_write (what the disks of all hosts moved, by dool)",
        ),
        _SECOND,
        column("rate", "double", "mean of the second, in `unit`"),
        column("unit", "string", "ops/s or MiB/s"),
    ),
)

STEADINESS = Table(
    "steadiness",
    "How steady each trial's rate was: one row a rate of trial_rate_series, over the whole seconds"
    " of the window after the warm-up, between the first and the last one in which something was"
    " done (those two are not whole: a JVM starts, or ends).",
    ("trial", "name"),
    (
        TRIAL,
        column("name", "string", "as in trial_rate_series"),
        column("unit", "string", "of mean and standard deviation: ops/s or MiB/s"),
        column("seconds", "int", "whole seconds behind it", "s"),
        column("mean", "double", "mean of the seconds, in `unit`"),
        column("standard_deviation", "double", "of the seconds (n - 1), in `unit`"),
        column(
            "coefficient_of_variation",
            "double",
            "standard deviation over mean; null with fewer than 2 seconds or a mean of 0",
        ),
    ),
)

BRING_UP_TIMES = Table(
    "bringup",
    "How long each phase of a topology's bring-up took, over its builds.",
    ("topology", "phase"),
    (
        column("topology", "string", "topology's name"),
        column("position", "int", "place among the phases, from 0"),
        column("phase", "string", "phase; they overlap, `total` is all of them together"),
        column("value_s", "double", "median of the points", "s"),
        column("n", "int", "builds behind it"),
        column("points_s", "doubles", "each build's seconds, in repetition order", "s"),
    ),
)

PRICE_PERFORMANCE = Table(
    "price_performance",
    "What a setting's rate costs on a topology, over its valid trials. No row where a host that the"
    " topology uses has no price.",
    ("topology", "setting", "name"),
    (
        column("topology", "string", "topology's name"),
        column("setting", "string", "id of the setting"),
        column("name", "string", "which rate: throughput, throughput_map_phase"),
        column("unit", "string", "of the rate: ops/s or MiB/s"),
        column("usd_per_hour", "double", "all hosts of the topology, client's included", "USD/h"),
        column("value", "double", "median of the points: rate a USD an hour, `unit` per USD/h"),
        column("n", "int", "builds behind it"),
        column("points", "doubles", "each build's rate over the price, in repetition order"),
    ),
)
