"""Aggregate dool's samples of each host over the window of a trial, and over each of its seconds.

One dool file holds all samples of its trial and host, so they are aggregated here, as arrays. A Spark query
would cut and shuffle every sample several times. Files of a batch are aggregated together, because for the
short arrays of one file the calls take longer than the additions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.rows.arrays.arrow_tables import Array, coded, coded_schema, table_of
from density_study.workloads.rows.arrays.exact_sums import COARSE, FINE, exact_sums
from density_study.workloads.rows.arrays.spans import Window, by_second, groups, overlap_s
from density_study.workloads.rows.monitors.sampling_rounds import sampling_rounds
from density_study.workloads.rows.raw.trial_context import Subject
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema

SHARES = tuple(f"cpu_{part}" for part in ("user", "system", "iowait", "steal", "irq", "idle"))
DISKS = ("disk_read_bytes_s", "disk_write_bytes_s")
SERIES = (
    *DISKS,
    "net_receive_bytes_s",
    "net_send_bytes_s",
    "memory_available_bytes",
    "memory_cached_bytes",
)
MEANS = (*SHARES, *DISKS, "disk_read_ops_s", "disk_write_ops_s")
NOT_USED = ("cpu_idle", "cpu_iowait", "cpu_steal")
_SUMMED = ("cpu_irq", "cpu_user", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_steal")


@dataclass(frozen=True)
class _Hosts:
    """The used samples of at least one host. owner: index into `subjects` of each sample; every subject has
    samples. begins: index of each subject's first sample."""

    samples: pa.Table
    subjects: Sequence[Subject]
    owner: Array
    begins: Array

    def windows(self, of_trial: Sequence[tuple[float, float] | None]) -> Window:
        """The window of each sample's trial."""
        edges = np.array([window or (np.nan, np.nan) for window in of_trial])
        return edges[self.owner, 0], edges[self.owner, 1]

    def named(self, counts: Array) -> dict[str, Any]:
        """Columns trial, host and scope, with `counts` rows per subject."""
        hosts = [subject.host for subject in self.subjects]
        return {
            "trial": coded([subject.trial for subject in self.subjects], counts),
            "host": coded(hosts, counts),
            "scope": coded([machine_scope(host) for host in hosts], counts),
        }


def host_tables(samples: pa.Table, subjects: Sequence[Subject]) -> Iterator[tuple[Table, pa.Table]]:
    """Rows of `host_cpu_usage`, `monitor_rounds`, `trial_cpu_series` and `host_disk_series`.

    samples: `host_samples` of complete files with deltas, concatenated in the order of `subjects`.
    """
    used = ~(_flags(samples, "since_boot") | _flags(samples, "repeated"))
    owner = np.repeat(np.arange(len(subjects)), [subject.rows for subject in subjects])[used]
    if not len(owner):
        return
    _, begins = groups(owner)
    present = [subjects[place] for place in owner[begins]]
    counts = np.diff(begins, append=len(owner))
    hosts = _Hosts(
        samples.filter(pa.array(used)), present, np.repeat(np.arange(len(present)), counts), begins
    )
    epoch_s = _numbers(hosts.samples, "epoch_s")
    since_s, until_s = np.empty(len(epoch_s)), np.empty(len(epoch_s))
    for subject, own in zip(present, np.split(np.arange(len(epoch_s)), begins[1:]), strict=True):
        # a sample is a mean over its period: after a gap, the missing time is not filled with the next value
        since_s[own], until_s[own] = subject.facts.spans_s(epoch_s[own], subject.facts.period_s)
    yield tables.HOST_USE, _use(hosts, since_s, until_s)
    yield tables.MONITOR_ROUNDS, _rounds(hosts, epoch_s)
    yield from _series(hosts, since_s, until_s)


def machine_scope(host: str) -> str:
    """Scope of a machine that dool monitored: a VM, named <node>.<host>, is not one of the hosts."""
    return f"guest:{host}" if "." in host else f"host:{host}"


def _use(hosts: _Hosts, since_s: Array, until_s: Array) -> pa.Table:
    """Mean of each column over the measured part of the window, and use over the whole window. Samples at
    the edges are weighted by their overlap (methods 7 and 18)."""
    size = len(hosts.subjects)
    row: dict[str, Any] = hosts.named(np.ones(size, np.int64))
    row["cpu_sum_error"] = _nullable(_sum_errors(hosts))
    facts = [subject.facts for subject in hosts.subjects]
    measured_s = overlap_s(since_s, until_s, hosts.windows([one.measured for one in facts]))
    row["measured_s"] = exact_sums(np.nan_to_num(measured_s, nan=0.0), hosts.begins)
    means = _means(hosts, MEANS, measured_s)
    whole = hosts.windows([one.window for one in facts])
    found = _means(hosts, NOT_USED, overlap_s(since_s, until_s, whole))
    idle = np.sum([found[name] for name in NOT_USED], axis=0)
    row["cpu_used_whole"] = _nullable(100.0 - idle)
    row |= {name: _nullable(mean) for name, mean in means.items()}
    return table_of(row, coded_schema(tables.HOST_USE), size)


def _rounds(hosts: _Hosts, epoch_s: Array) -> pa.Table:
    before_s = _numbers(hosts.samples, "since_epoch_s")
    told = []
    ends = [*hosts.begins[1:], len(epoch_s)]
    for subject, begin, end in zip(hosts.subjects, hosts.begins, ends, strict=True):
        at_s = epoch_s[begin:end]
        known = ~np.isnan(at_s)
        about = {"trial": subject.trial, "host": subject.host}
        told += sampling_rounds(
            subject.kind, about, at_s[known], before_s[begin:end][known], subject.facts
        )
    return pa.Table.from_pylist(told, arrow_schema(tables.MONITOR_ROUNDS))


def _series(hosts: _Hosts, since_s: Array, until_s: Array) -> Iterator[tuple[Table, pa.Table]]:
    window = hosts.windows([subject.facts.window for subject in hosts.subjects])
    span, second, inside_s = by_second(since_s, until_s, window)
    owner = hosts.owner[span]
    order, begins = groups(owner, second)
    counts = np.bincount(owner[order][begins], minlength=len(hosts.subjects))
    means = _weighted_means(hosts.samples, (*SHARES, *SERIES), span[order], inside_s[order], begins)
    named = {
        **hosts.named(counts),
        "second": second[order][begins],
        **{name: _nullable(mean) for name, mean in means.items()},
    }
    for table in (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES):
        yield table, table_of(named, coded_schema(table), len(begins))


def _means(hosts: _Hosts, names: Sequence[str], weights: Array) -> dict[str, Array]:
    """Weighted means per subject; NaN if all weights are zero."""
    inside = np.flatnonzero(weights > 0)  # also drops the NaN weights of samples without a time
    owner = hosts.owner[inside]
    _, begins = groups(owner)
    found = _weighted_means(hosts.samples, names, inside, weights[inside], begins)
    means = {}
    for name, mean in found.items():
        means[name] = np.full(len(hosts.subjects), np.nan)
        means[name][owner[begins]] = mean
    return means


def _weighted_means(
    samples: pa.Table, names: Sequence[str], rows: Array, weights: Array, begins: Array
) -> dict[str, Array]:
    """Weighted means of each run of `rows` (indices of samples); NaN if no value is known."""
    all_s = exact_sums(weights, begins)
    means = {}
    for name in names:
        values = _numbers(samples, name).take(rows)
        # bytes need room, shares need digits
        steps = FINE if name.startswith("cpu_") else COARSE
        absent = np.isnan(values)  # unknown values have no weight, or they would count as zero
        known_s = exact_sums(np.where(absent, np.nan, weights), begins) if absent.any() else all_s
        means[name] = exact_sums(values * weights, begins, steps) / known_s
    return means


def _sum_errors(hosts: _Hosts) -> Array:
    """Largest deviation of a sample's CPU shares from a sum of 100 %, per subject; NaN if a share is
    unknown."""
    total = np.zeros(len(hosts.samples))
    for name in _SUMMED:
        values = _numbers(hosts.samples, name)
        total = total + (np.nan_to_num(values, nan=0.0) if name == "cpu_irq" else values)
    worst: Array = np.maximum.reduceat(np.abs(total - 100.0), hosts.begins)
    return worst


def _nullable(values: Array) -> pa.Array:
    return pa.array(values, from_pandas=True)


def _numbers(samples: pa.Table, name: str) -> Array:
    """The column as an array, with NaN for null."""
    numbers: Array = samples[name].to_numpy()
    return numbers


def _flags(samples: pa.Table, name: str) -> Array:
    """The column as an array, with False for null."""
    flags: Array = samples[name].fill_null(False).to_numpy()
    return flags
