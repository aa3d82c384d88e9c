"""Tables that the jobs and the validity check make: checks, verdicts, metrics."""

from __future__ import annotations

from analysis.tables.table import TRIAL, Table, column

CHECKS = Table(
    "checks",
    "One row per trial: the values that Great Expectations checks. A null could not be computed.",
    ("trial",),
    (
        TRIAL,
        column("workload", "string", "testdfsio or ycsb"),
        column("mode", "string", "TestDFSIO's mode, or YCSB's mix"),
        column("monitored", "boolean", "whether the monitors ran: some checks apply only then"),
        column("must_be_cold", "boolean", "a TestDFSIO read: it must come from the disks"),
        column("has_target", "boolean", "YCSB with a target rate"),
        column("state", "string", "complete, failed or incomplete"),
        column("state_reason", "string", "why it is not complete"),
        column("window_s", "double", "workload start to exit", "s"),
        column("clients_failed", "int", "clients with an exit code other than 0"),
        column("failed_operations", "long", "YCSB: operations whose Return is not OK"),
        column("work_share", "double", "work done over work requested, at most 1"),
        column("monitor_coverage", "double", "samples seen over expected, of the worst monitor"),
        column("monitor_worst", "string", "which monitor that is"),
        column("clock_periods", "double", "largest clock offset over its sampling period"),
        column("cpu_sum_error", "double", "largest |sum of a sample's shares - 100|", "percent"),
        column("cold_share", "double", "bytes the disks read over distinct bytes requested"),
        column("client_cpu_share", "double", "client's CPU over its cores"),
        column("cpu_excess", "double", "nodes' processes' CPU less the host's used CPU", "percent"),
        column("foreign_cpu", "double", "host's used CPU less its nodes' processes'", "percent"),
        column("target_share", "double", "achieved rate over target rate"),
        column(
            "drift", "double", "YCSB: rate in the last third of the measured time over the first's"
        ),
        column("background_work", "long", "compactions and splits in the window"),
        column("compiling_share", "double", "as in trials"),
        column("result_lines_quarantined", "long", "unreadable lines in the results"),
        column("result_quarantine", "string", "one of them: kind of file, line, reason"),
        column("sample_lines_quarantined", "long", "unreadable lines in the samples"),
        column("rate_error", "double", "|rate x time - work| over work, by the tool's own numbers"),
        column(
            "histogram_error", "double", "|operations in histograms - Return=OK| over the latter"
        ),
        column(
            "closed_loop",
            "boolean",
            "YCSB unthrottled; a load only if Little's law could be checked",
        ),
        column(
            "little_error",
            "double",
            "|X (R + Z) / N - 1|: share of all threads' time that is not accounted for",
        ),
        column("rates_unknown", "long", "rates that could not be computed"),
        column(
            "numbers_out_of_range",
            "long",
            "shares outside of 0 to 100 %, other numbers below 0",
        ),
        column("number_out_of_range", "string", "one of them: its name and value"),
        column(
            "access_spread", "double", "fastest over slowest of random, backward, skip, minus 1"
        ),
    ),
)

VERDICTS = Table(
    "verdicts",
    "One row per trial: the verdict by Great Expectations on its checks.",
    ("trial",),
    (
        TRIAL,
        column("verdict", "string", "valid, invalid or unknown"),
        column("reasons", "strings", "in plain words; a flag names itself and decides nothing"),
    ),
)

_METRIC_COLUMNS = (
    column("name", "string", "which number: see analysis.summary.summary.MetricName"),
    column("unit", "string", "MiB/s, ops/s, ms, percent or count"),
    column("operation", "string", "for latency: READ, INSERT, SCAN, ..."),
    column("latency_kind", "string", "for latency: closed-loop or intended"),
    column("percentile", "double", "for latency", "percent"),
    column(
        "scope",
        "string",
        "for CPU and disks: host:<name> (dool, the whole machine), host-less-client:<name> (the same"
        " minus client and monitors), node:<name>, client, monitor (own processes, percent of all"
        " cores of their host), cluster (masters and workers, percent of all cores of their hosts)",
    ),
)
_METRIC_KEY = ("name", "operation", "latency_kind", "percentile", "scope")

METRICS = Table(
    "metrics",
    "One row per number of a trial.",
    ("trial", *_METRIC_KEY),
    (
        TRIAL,
        *_METRIC_COLUMNS,
        column("value", "double", "null where it could not be computed"),
    ),
)

SETTING_METRICS = Table(
    "setting_metrics",
    "One row per number of a setting on a topology, over its valid trials.",
    ("topology", "setting", *_METRIC_KEY),
    (
        column("topology", "string", "topology's name"),
        column("setting", "string", "id of the setting"),
        *_METRIC_COLUMNS,
        column("value", "double", "median of the points"),
        column("n", "int", "builds behind it"),
        column("points", "doubles", "mean of each build's valid trials, in block order"),
    ),
)
