"""What the samples of one host in one trial say of its window and of each of its seconds.

One dool file holds all samples of its trial and host, so they are added up here, where they are
arrays. In queries every sample was cut, sent to where its second is summed, and added, several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from analysis.tables import Table
from jobs.byte_lines import Array
from jobs.coded_tables import coded_schema
from jobs.columns import table_of
from jobs.exact_arrays import COARSE, FINE, exact_sums
from jobs.sampling_rounds import sampling_rounds
from jobs.spans import by_second, groups, overlap_s
from jobs.trial_facts import TrialFacts

SHARES = tuple(f"cpu_{part}" for part in ("user", "system", "iowait", "steal", "irq", "idle"))
DISKS = ("disk_read_bytes_s", "disk_write_bytes_s")
MEANS = (*SHARES, *DISKS, "disk_read_ops_s", "disk_write_ops_s")
NOT_USED = ("cpu_idle", "cpu_iowait", "cpu_steal")
_ONE = np.zeros(1, np.int64)
"""Where the only group begins."""
_SUMMED = ("cpu_irq", "cpu_user", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_steal")


def host_tables(samples: pa.Table, facts: TrialFacts) -> Iterator[tuple[Table, pa.Table]]:
    """Rows of `host_use`, `monitor_rounds`, `trial_cpu_series` and `host_disk_series`.

    samples: `host_samples` of a whole file, its neighbours filled in.
    """
    used = ~(_flags(samples, "since_boot") | _flags(samples, "repeated"))
    samples = samples.filter(pa.array(used))
    if not len(samples):
        return
    about = {name: samples[name][0].as_py() for name in ("trial", "host")}
    epoch_s = _numbers(samples, "epoch_s")
    until_s = epoch_s - facts.clock_offset_s
    since_s = until_s - facts.period_s
    yield tables.HOST_USE, _use(about, samples, since_s, until_s, facts)
    known = ~np.isnan(epoch_s)
    before = _numbers(samples, "since_epoch_s")
    yield (
        tables.MONITOR_ROUNDS,
        sampling_rounds("dool", about, epoch_s[known], before[known], facts),
    )
    if facts.window is None:
        return
    span, second, inside_s = by_second(since_s, until_s, facts.window)
    order, begins = groups(second)
    weights = inside_s[order]
    named: dict[str, Any] = {**about, "second": second[order][begins]}
    rows = span[order]
    named |= _weighted_means(samples, (*SHARES, *DISKS), rows, weights, begins)
    named["scope"] = machine_scope(about["host"])
    for table in (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES):
        yield table, table_of(named, coded_schema(table), len(begins))


def machine_scope(host: str) -> str:
    """Scope of what dool saw of a machine: a guest (named <node>.<host>) is none of the hosts."""
    return f"guest:{host}" if "." in host else f"host:{host}"


def _use(
    about: dict[str, str], samples: pa.Table, since_s: Array, until_s: Array, facts: TrialFacts
) -> pa.Table:
    """The mean of each column over what is measured of the window, samples at its edges weighted by
    the part of them that lies inside (methods 7 and 18); and use over the whole window."""
    row: dict[str, Any] = {
        **about,
        "scope": machine_scope(about["host"]),
        "measured_s": 0.0,
        "cpu_sum_error": _sum_error(samples),
    }
    if facts.measured is not None:
        weights = overlap_s(since_s, until_s, facts.measured)
        known_s = weights[weights > 0]  # not of a sample that tells no time
        row["measured_s"] = exact_sums(known_s, _ONE)[0] if len(known_s) else 0.0
        row |= _means(samples, MEANS, weights)
    if facts.window is not None:
        found = _means(samples, NOT_USED, overlap_s(since_s, until_s, facts.window))
        idle = [share for share in found.values() if share is not None]
        if len(idle) == len(NOT_USED):
            row["cpu_used_whole"] = 100.0 - sum(idle)
    return pa.Table.from_pylist([row], arrow_schema(tables.HOST_USE))


def _means(samples: pa.Table, names: Sequence[str], weights: Array) -> dict[str, float | None]:
    """Of all samples that weigh anything; empty if none does."""
    inside = np.flatnonzero(weights > 0)
    if not len(inside):
        return {}
    means = _weighted_means(samples, names, inside, weights[inside], _ONE)
    return {name: mean[0].as_py() for name, mean in means.items()}


def _weighted_means(
    samples: pa.Table, names: Sequence[str], rows: Array, weights: Array, begins: Array
) -> dict[str, pa.Array]:
    """Of each run of `rows`, which are places among the samples; null where no value is known."""
    means = {}
    all_s = exact_sums(weights, begins)
    for name in names:
        values = _numbers(samples, name)[rows]
        steps = FINE if name.startswith("cpu_") else COARSE
        absent = np.isnan(values)
        known_s = exact_sums(np.where(absent, np.nan, weights), begins) if absent.any() else all_s
        means[name] = pa.array(
            exact_sums(values * weights, begins, steps) / known_s, from_pandas=True
        )
    return means


def _sum_error(samples: pa.Table) -> float | None:
    """How far a sample's shares are from 100 % at most; None if one of them is not known."""
    total = np.zeros(len(samples))
    for name in _SUMMED:
        values = _numbers(samples, name)
        total = total + (np.nan_to_num(values, nan=0.0) if name == "cpu_irq" else values)
    worst = np.abs(total - 100.0).max()
    return None if np.isnan(worst) else float(worst)


def _numbers(samples: pa.Table, name: str) -> Array:
    """NaN for null."""
    numbers: Array = samples[name].to_numpy()
    return numbers


def _flags(samples: pa.Table, name: str) -> Array:
    """True only where it is said."""
    flags: Array = samples[name].fill_null(False).to_numpy()
    return flags
