"""Metrics that a trial of any workload may have."""

from __future__ import annotations

from density_study.workloads.base.metric import PER_USD, MetricKind

_CPU = "percent of the scope's cores"
METRICS = (
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
    MetricKind(
        "canary_compute", "us", "fixed computation",
        "time of the canary's computation around the trial: how fast the machine itself was",
        better="lower", shown="list",
    ),
    MetricKind(
        "canary_memory", "us", "fixed copy in memory",
        "time of the canary's copy of 1 MiB around the trial", better="lower", shown="list",
    ),
    MetricKind(
        "canary_wake", "us", "wake-up on another core",
        "time for the canary to wake up a process on another core and to be woken up by it, around the trial",
        better="lower", shown="list",
    ),
    MetricKind(
        "canary_touch", "us", "first touch of memory",
        "time for the canary to get a MiB of memory that it had not used before, around the trial",
        better="lower", shown="list",
    ),
    MetricKind(
        "power", "W", "power", "mean power of the host's packages of cores and their memory (RAPL)",
        better="lower", shown="list",
    ),
    MetricKind(
        "energy_per_operation", "J", "energy for each operation",
        "power of all watched hosts over the rate", better="lower",
    ),
    MetricKind(
        "energy_per_mib", "J/MiB", "energy for each MiB",
        "power of all watched hosts over the rate of the whole job", better="lower",
    ),
    MetricKind(
        "host_power", "W", "power of the whole host",
        "mean power at the host's supply, by its power meter (ACPI or IPMI)",
        better="lower", shown="list",
    ),
    MetricKind(
        "host_energy_per_operation", "J", "energy of whole hosts for each operation",
        "host_power of all watched hosts over the rate", better="lower",
    ),
    MetricKind(
        "host_energy_per_mib", "J/MiB", "energy of whole hosts for each MiB",
        "host_power of all watched hosts over the rate of the whole job", better="lower",
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
