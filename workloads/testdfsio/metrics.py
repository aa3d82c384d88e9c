"""Metrics of TestDFSIO."""

from __future__ import annotations

from density_study.workloads.base.metric import MetricKind

METRICS = (
    MetricKind(
        "throughput_per_stream", "MiB/s", "per-stream rate",
        "TestDFSIO's own mean of a stream: bytes over the sum of task times",
        better="higher", shown="rates",
    ),
    MetricKind(
        "throughput_map_phase", "MiB/s", "map-phase rate",
        "bytes from the first start of a map to the last end of one",
        better="higher", shown="rates",
    ),
    MetricKind(
        "throughput_job", "MiB/s", "whole-job rate",
        "bytes over the whole job, with YARN's start-up",
        better="higher", shown="rates",
    ),
    MetricKind(
        "rate_to_disk", "MiB/s", "to-disk rate",
        "of a write: bytes over the map phase and the time until they are on disks",
        better="higher", shown="rates",
    ),
    MetricKind(
        "hdfs_read_local", "percent", "HDFS bytes read from the own node",
        "bytes read from the reader's own node, of those that DataNodes sent", shown="list",
    ),
    MetricKind(
        "hdfs_read_rack", "percent", "HDFS bytes read from other nodes of the host",
        "bytes read from other nodes of the reader's host, of those that DataNodes sent",
        shown="list",
    ),
    MetricKind(
        "hdfs_read_remote", "percent", "HDFS bytes read from other hosts",
        "bytes read from other hosts, of those that DataNodes sent", shown="list",
    ),
    MetricKind(
        "concurrent_maps", "count", "concurrent maps", "maps that really ran at once", shown="list",
    ),
)  # fmt: skip
