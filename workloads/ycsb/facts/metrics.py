"""Metrics of YCSB, beside latency, which every workload may have."""

from __future__ import annotations

from density_study.workloads.base.metric import MetricKind

METRICS = (
    MetricKind(
        "throughput", "ops/s", "successful operations",
        "operations that succeeded, after the ramp-up", better="higher", shown="rates",
    ),
    MetricKind(
        "rate_at_slo", "ops/s", "rate within limits",
        "operations that succeeded, at the highest load that a search kept",
        better="higher", shown="elsewhere",
    ),
    MetricKind(
        "time_to_recover", "s", "time to recover",
        "from a fault to the first second of a sustained rate", better="lower", shown="elsewhere",
    ),
    MetricKind(
        "failed_operations", "count", "failed operations",
        "operations that failed in a trial with a fault", better="lower", shown="elsewhere",
    ),
    MetricKind(
        "worst_latency", "ms", "longest intended latency",
        "longest intended latency after the fault of a trial", better="lower", shown="elsewhere",
    ),
    MetricKind(
        "lost_rows", "count", "acknowledged rows lost",
        "rows whose insert was acknowledged, and that are not in the table",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "part_requested", "ops/s", "requested rate of a part",
        "of a part of a load whose rate changes with time: rate requested", shown="elsewhere",
    ),
    MetricKind(
        "part_rate", "ops/s", "achieved rate of a part",
        "rate achieved in the part", better="higher", shown="elsewhere",
    ),
    MetricKind(
        "part_latency", "ms", "intended latency of a part",
        "percentile of intended latency in the part", better="lower", shown="elsewhere",
    ),
    MetricKind(
        "part_variation", "percent", "variation by second of a part",
        "coefficient of variation of the part's rate by second", better="lower", shown="elsewhere",
    ),
)  # fmt: skip
