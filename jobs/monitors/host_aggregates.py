"""What the samples of each host in each trial say of its window and of each of its seconds.

One dool file holds all samples of its trial and host, so they are added up here, where they are
arrays. In queries every sample was cut, sent to where its second is summed, and added, several times.
Files that were read together are added up together: arrays of one file are so short that calling for
each took longer than adding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.tables import Table
from analysis.tables.arrow import arrow_schema
from jobs.arrays.array import Array, table_of
from jobs.arrays.dictionary_encoding import coded, coded_schema
from jobs.arrays.exact_sums import COARSE, FINE, exact_sums
from jobs.arrays.spans import Window, by_second, groups, overlap_s
from jobs.monitors.sampling_rounds import sampling_rounds
from jobs.raw.trial_context import Subject

SHARES = tuple(f"cpu_{part}" for part in ("user", "system", "iowait", "steal", "irq", "idle"))
DISKS = ("disk_read_bytes_s", "disk_write_bytes_s")
MEANS = (*SHARES, *DISKS, "disk_read_ops_s", "disk_write_ops_s")
NOT_USED = ("cpu_idle", "cpu_iowait", "cpu_steal")
_SUMMED = ("cpu_irq", "cpu_user", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_steal")


@dataclass(frozen=True)
class _Hosts:
    """Samples that are used, of at least one host. owner: whose each is, as a place in `subjects`, of
    whom each has some; begins: where theirs begin."""

    samples: pa.Table
    subjects: Sequence[Subject]
    owner: Array
    begins: Array

    def windows(self, of_trial: Sequence[tuple[float, float] | None]) -> Window:
        """For each sample."""
        edges = np.array([window or (np.nan, np.nan) for window in of_trial])
        return edges[self.owner, 0], edges[self.owner, 1]

    def named(self, counts: Array) -> dict[str, Any]:
        """trial, host and scope, for rows of which each subject has so many."""
        hosts = [subject.host for subject in self.subjects]
        return {
            "trial": coded([subject.trial for subject in self.subjects], counts),
            "host": coded(hosts, counts),
            "scope": coded([machine_scope(host) for host in hosts], counts),
        }


def host_tables(samples: pa.Table, subjects: Sequence[Subject]) -> Iterator[tuple[Table, pa.Table]]:
    """Rows of `host_cpu_usage`, `monitor_rounds`, `trial_cpu_series` and `host_disk_series`.

    samples: `host_samples` of whole files, their neighbours filled in, behind each other as `subjects`.
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
    offsets_s = np.array([subject.facts.clock_offset_s for subject in present])
    periods_s = np.array([subject.facts.period_s for subject in present])
    until_s = epoch_s - offsets_s[hosts.owner]
    since_s = until_s - periods_s[hosts.owner]
    yield tables.HOST_USE, _use(hosts, since_s, until_s)
    yield tables.MONITOR_ROUNDS, _rounds(hosts, epoch_s)
    yield from _series(hosts, since_s, until_s)


def machine_scope(host: str) -> str:
    """Scope of what dool saw of a machine: a guest (named <node>.<host>) is none of the hosts."""
    return f"guest:{host}" if "." in host else f"host:{host}"


def _use(hosts: _Hosts, since_s: Array, until_s: Array) -> pa.Table:
    """The mean of each column over what is measured of the window, samples at its edges weighted by
    the part of them that lies inside (methods 7 and 18); and use over the whole window."""
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
            "dool", about, at_s[known], before_s[begin:end][known], subject.facts
        )
    return pa.Table.from_pylist(told, arrow_schema(tables.MONITOR_ROUNDS))


def _series(hosts: _Hosts, since_s: Array, until_s: Array) -> Iterator[tuple[Table, pa.Table]]:
    window = hosts.windows([subject.facts.window for subject in hosts.subjects])
    span, second, inside_s = by_second(since_s, until_s, window)
    owner = hosts.owner[span]
    order, begins = groups(owner, second)
    counts = np.bincount(owner[order][begins], minlength=len(hosts.subjects))
    means = _weighted_means(hosts.samples, (*SHARES, *DISKS), span[order], inside_s[order], begins)
    named = {
        **hosts.named(counts),
        "second": second[order][begins],
        **{name: _nullable(mean) for name, mean in means.items()},
    }
    for table in (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES):
        yield table, table_of(named, coded_schema(table), len(begins))


def _means(hosts: _Hosts, names: Sequence[str], weights: Array) -> dict[str, Array]:
    """Of each subject, over all its samples that weigh anything; NaN if none does."""
    inside = np.flatnonzero(weights > 0)  # not of a sample that tells no time
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
    """Of each run of `rows`, which are places among the samples; NaN where no value is known."""
    all_s = exact_sums(weights, begins)
    means = {}
    for name in names:
        values = _numbers(samples, name).take(rows)
        steps = FINE if name.startswith("cpu_") else COARSE
        absent = np.isnan(values)
        known_s = exact_sums(np.where(absent, np.nan, weights), begins) if absent.any() else all_s
        means[name] = exact_sums(values * weights, begins, steps) / known_s
    return means


def _sum_errors(hosts: _Hosts) -> Array:
    """How far a sample's shares are from 100 % at most; NaN if one of them is not known."""
    total = np.zeros(len(hosts.samples))
    for name in _SUMMED:
        values = _numbers(hosts.samples, name)
        total = total + (np.nan_to_num(values, nan=0.0) if name == "cpu_irq" else values)
    worst: Array = np.maximum.reduceat(np.abs(total - 100.0), hosts.begins)
    return worst


def _nullable(values: Array) -> pa.Array:
    return pa.array(values, from_pandas=True)


def _numbers(samples: pa.Table, name: str) -> Array:
    """NaN for null."""
    numbers: Array = samples[name].to_numpy()
    return numbers


def _flags(samples: pa.Table, name: str) -> Array:
    """True only where it is said."""
    flags: Array = samples[name].fill_null(False).to_numpy()
    return flags
