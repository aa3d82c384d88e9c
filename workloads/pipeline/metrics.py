"""Metrics of the genomics pipeline. The metrics of a stage have its scope, `stage:<name>`."""

from __future__ import annotations

from density_study.workloads.base.metric import MetricKind

METRICS = (
    MetricKind(
        "throughput_genomes", "genomes/h", "genomes through all stages",
        "genomes through all stages, on all nodes together", better="higher", shown="rates",
    ),
    MetricKind(
        "stage_core", "s", "CPU time", "CPU time of the stage for one genome",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_core_per_base", "ns", "CPU time per base",
        "CPU time of the stage for each base of a genome's reads", better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_time", "s", "time", "time of the stage for one genome",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_memory", "MiB", "peak memory of one task", "peak memory of one task of the stage",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_read", "MiB", "read from files",
        "read from files by the stage for one genome, from the page cache too",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_write", "MiB", "written to files", "written to files by the stage for one genome",
        better="lower", shown="elsewhere",
    ),
    MetricKind(
        "stage_tasks", "tasks", "tasks",
        "tasks of the stage for one genome: 1 is a process, others are Spark's", shown="elsewhere",
    ),
    MetricKind(
        "load_rate", "variants/s", "variants written to the store by one loader",
        "variants that the loader of one node writes to the variant store",
        better="higher", shown="elsewhere",
    ),
    MetricKind(
        "recall", "percent", "planted variants called", "planted variants that were called",
        better="higher", shown="elsewhere",
    ),
    MetricKind(
        "precision", "percent", "called variants planted", "called variants that were planted",
        better="higher", shown="elsewhere",
    ),
)  # fmt: skip
