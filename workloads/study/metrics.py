"""Every metric that a trial or a setting may have: those of the registered workloads, then those that any
workload may have, and those that other packages add by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from density_study.cluster.plugins import unusable, values_of
from density_study.workloads.base.metric import PER_USD, MetricKind
from density_study.workloads.study.registry import kinds

_CPU = "percent of the scope's cores"
OF_ANY_WORKLOAD = (
    MetricKind(
        "l1_hit_percent", "percent", "block cache hits, heap",
        "blocks found on the heap, of those looked for there", better="higher", shown="elsewhere",
    ),
    MetricKind(
        "l2_hit_percent", "percent", "block cache hits, tier",
        "blocks found in the cache beside the heap, of those looked for there; of HDFS's cache, of the bytes "
        "read", better="higher", shown="elsewhere",
    ),
    MetricKind(
        "cache_evictions", "blocks", "evicted from block caches",
        "blocks that caches dropped to make room", better="lower", shown="list",
    ),
    MetricKind(
        "client_throughput", "ops/s", "rate of one client",
        "operations that succeeded on one client node, where there are several", shown="list",
    ),
    MetricKind(
        "latency", "ms", "latency", "percentile of merged histograms",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "cpu_used", "percent", "used CPU", f"100 - idle - iowait - steal, {_CPU}", shown="elsewhere"
    ),
    MetricKind("cpu_user", "percent", "CPU, user", f"time in programs, {_CPU}", shown="list"),
    MetricKind("cpu_system", "percent", "CPU, system", f"time in the kernel, {_CPU}", shown="list"),
    MetricKind(
        "cpu_iowait", "percent", "CPU, iowait", f"time waiting for disks, {_CPU}", shown="elsewhere"
    ),
    MetricKind(
        "cpu_steal", "percent", "CPU, steal", f"time that a hypervisor took, {_CPU}",
        shown="elsewhere",
    ),
    MetricKind("cpu_idle", "percent", "CPU, idle", f"time without work, {_CPU}", shown="elsewhere"),
    MetricKind(
        "cpu_throttled", "percent", "CPU, throttled",
        "of a container: time for which its quota stopped it, percent of the host's cores",
        shown="elsewhere",
    ),
    MetricKind("disk_read", "MiB/s", "disk read", "read from devices", shown="list"),
    MetricKind("disk_write", "MiB/s", "disk written", "written to devices", shown="list"),
    MetricKind(
        "throughput_cv", "percent", "steadiness", "coefficient of variation of the rate by second",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "price_performance", PER_USD, "price-performance", "the main rate for each USD an hour",
        better="higher", shown="elsewhere",
    ),
)  # fmt: skip


@cache
def metric_kinds() -> Mapping[str, MetricKind]:
    """By name, in the order of summary.json. InputError if a name is declared twice."""
    found: dict[str, MetricKind] = {}
    for kind in kinds().values():
        for metric in kind.metrics:
            if metric.name in found:
                raise unusable("metric", f"{metric.name!r} is declared twice", kind.name)
            found[metric.name] = metric
    found |= {metric.name: metric for metric in OF_ANY_WORKLOAD}
    for name, metric in values_of("metric", MetricKind):
        if metric.name in found:
            raise unusable("metric", f"{metric.name!r} is declared twice", name)
        found[metric.name] = metric
    return MappingProxyType(found)


@cache
def main_rates() -> tuple[str, ...]:
    """The name of each workload's rate."""
    return tuple(kind.rate for kind in kinds().values())


def known_metric(name: str) -> str:
    """The name, if such a metric is declared. ValueError otherwise, which lists those that are."""
    if name not in metric_kinds():
        raise ValueError(
            f"no metric {name!r} is declared; install the package that declares it. Declared are "
            f"{', '.join(metric_kinds())}"
        )
    return name
