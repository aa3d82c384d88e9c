"""Words and units of every series, for people."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from density_study.analysis.explanation.course import Place
from density_study.analysis.summary.numbers import digits
from density_study.workloads.monitors.devices import devices

# What the default monitors, manifests and the reading of them add to the metrics of devices.
_OWN: Mapping[str, tuple[str, str]] = {
    "iowait": ("iowait", "percent"),
    "steal": ("CPU that the hypervisor gave to others", "percent"),
    "cpu_used": ("CPU use", "percent"),
    "other_programs": ("CPU of programs that are not the study's", "percent"),
    "client_cpu": ("CPU of the client, of the cores that it may use", "percent"),
    "disk_read": ("bytes read from disks", "MiB/s"),
    "disk_write": ("bytes written to disks", "MiB/s"),
    "net_receive": ("bytes received", "MiB/s"),
    "net_send": ("bytes sent", "MiB/s"),
    "memory_available": ("memory available", "MiB"),
    "memory_cached": ("page cache", "MiB"),
    "throttled": ("stopped by the CPU limit, as a share of its cores", "percent"),
    "run_delay": ("tasks waiting in run queues, per core", "percent"),
    "resent_share": ("segments sent again, as a share of the usual segments", "percent"),
    "dropped_share": ("packets dropped, as a share of the usual packets", "percent"),
    "flushing": ("time in a flush", "percent"),
    "compacting": ("time in a compaction", "percent"),
    "silent": ("time without an answer", "percent"),
    "client_silent": ("time without a sign of life", "percent"),
    "other_calls": (
        "calls beyond the client's operations, as a share of the usual calls",
        "percent",
    ),
    "handlers_of_others": ("handlers at work beyond the client's threads", ""),
    "client_threads": ("time in operations of the threads", "percent"),
    "client_gc_time": ("time in garbage collection", "percent"),
    "hdfs_writes_of_others": ("writes beyond those of RegionServers", "MiB/s"),
    "hdfs_reads_of_others": ("reads beyond those of RegionServers", "MiB/s"),
    "hdfs_share_of_others": ("share of the bytes that the job did not request", "percent"),
    "outside_time": ("time of an operation that no RegionServer spent on it", "ms"),
    "other_writes": ("writes to disks beyond those of DataNodes", "MiB/s"),
    "regions_moved": ("regions that came or left", "1/s"),
    "server_requests": ("share of the requests to the busiest server", "percent"),
    "server_excess": ("requests over a server's fair share", "times"),
    "region_share": ("share of the requests to the busiest region", "percent"),
    "region_excess": ("requests over a region's fair share", "times"),
    "namenode_queue_time": ("mean time in the NameNode's queue", "ms"),
    "namenode_process_time": ("mean processing time of the NameNode", "ms"),
    "namenode_calls": ("calls of the NameNode", "1/s"),
    "namenode_blocked_threads": ("threads that wait for the lock of the NameNode", "count"),
    "namenode_stale_datanodes": ("DataNodes without a heartbeat", "count"),
    "namenode_dead_datanodes": ("dead DataNodes", "count"),
    "namenode_pending_deletions": ("blocks to be deleted", "count"),
}
_SIGNS = {"percent": "%", "count": ""}
MOST = 2  # places in a sentence


@cache
def named() -> Mapping[str, tuple[str, str]]:
    """Words and unit of each quantity."""
    of_devices = {
        metric.name: (metric.label, metric.unit)
        for device in devices().values()
        for metric in device.metrics
    }
    return {**of_devices, **_OWN}


def amount(value: float, unit: str) -> str:
    return f"{digits(value)} {_SIGNS.get(unit, unit)}".rstrip()


def compared(place: Place, value: float, usual: float, among: str) -> str:
    """'mean time of a write of sda on h1 480 ms, 12.0 ms in the median second'."""
    words, unit = named().get(place.quantity, (place.quantity, "percent"))
    return f"{words} of {place.words} {amount(value, unit)}, {amount(usual, unit)} {among}"


def several(texts: list[str]) -> str:
    """The first MOST texts, and the number of the others."""
    more = len(texts) - MOST
    return ", ".join(texts[:MOST]) + (f", and {more} more" if more > 0 else "")
