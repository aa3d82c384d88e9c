"""What tables and sentences call resources and uncertain inputs. Plans as JSON keep the keys."""

from __future__ import annotations

import re
from typing import Literal

Resource = Literal["hdfs_read", "hdfs_write", "hbase_write", "hbase_scan", "genome_job"]
_RESOURCES = {
    "hdfs_read": "reads of files",
    "hdfs_write": "writes of files",
    "hbase_write": "writes to HBase",
    "hbase_scan": "scans of HBase",
    "genome_job": "whole-genome jobs",
    "compute": "cores and memory for tasks",
}
UNIT_OF: dict[Resource, str] = {
    "hdfs_read": "MiB",
    "hdfs_write": "MiB",
    "hbase_write": "operations",
    "hbase_scan": "operations",
    "genome_job": "jobs",
}
_INPUTS = {
    "peak": "the busiest hour over the mean",
    "availability": "the share of time that the cluster is up",
    "daemon_gib": "memory of daemons",
    "query.per_s": "queries per second",
    "query.scans": "scans of one query",
    "storage.scratch_gib": "scratch space of a genome",
}
_OF_STAGE = {
    "core_hours": "core-hours of",
    "accelerator_hours": "accelerator-hours of",
    "cpu_efficiency": "CPU efficiency of",
    "ram_gib": "memory of a task of",
}
_RESOURCE = re.compile(rf"\b({'|'.join(_RESOURCES)})\b")


def resource_words(text: str) -> str:
    """The text with every resource in words: 'scans of HBase', 'cores and memory for tasks (memory)'."""
    return _RESOURCE.sub(lambda found: _RESOURCES[found[1]], text)


def rate_words(resource: str) -> str:
    """'reads of files: MiB per second'; without a unit for a resource that this version does not know."""
    unit = next((f": {unit}" for known, unit in UNIT_OF.items() if known == resource), "")
    return f"{resource_words(resource)}{unit} per second"


def input_words(name: str) -> str:
    """An uncertain value of a profile: 'core-hours of align', 'GiB of bam, stored per genome'."""
    if name in _INPUTS:
        return _INPUTS[name]
    of, _, what = name.rpartition(".")
    if of.startswith("storage."):
        kept = of.removeprefix("storage.")
        return f"GiB of {kept}, stored per genome" if what == "gib" else f"days that {kept} is kept"
    if what in _OF_STAGE:
        return f"{_OF_STAGE[what]} {of}"
    return f"{resource_words(what)} by {of}" if what in _RESOURCES else resource_words(name)
