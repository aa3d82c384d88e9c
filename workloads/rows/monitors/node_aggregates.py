"""Aggregate the CPU time of a host's nodes over the window of a trial, and over each of its seconds.

Works on one file of our own sampler, which holds all its rounds; see
`workloads.rows.monitors.host_aggregates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.rows.arrays.arrow_tables import Array, codes, table_of
from density_study.workloads.rows.arrays.exact_sums import exact_sums
from density_study.workloads.rows.arrays.spans import by_second, groups, overlap_s
from density_study.workloads.rows.monitors.sampling_rounds import sampling_rounds
from density_study.workloads.rows.raw.own_time import ROUNDING_S
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema

PARTS = ("user", "system")


def node_tables(samples: pa.Table, facts: TrialFacts) -> Iterator[tuple[Table, pa.Table]]:
    """Rows of `monitor_rounds`, `node_cpu_usage` and `trial_cpu_series`.

    samples: `node_cpu_samples` of a complete file, with deltas.
    """
    if not len(samples):
        return
    about = {name: samples[name][0].as_py() for name in ("trial", "host")}
    rounds = samples.filter(samples["begins_round"])
    at_s, before_s = (rounds[name].to_numpy() for name in ("epoch_s", "round_since_epoch_s"))
    found = sampling_rounds("nodecpu", about, at_s, before_s, facts)
    yield tables.MONITOR_ROUNDS, pa.Table.from_pylist(found, arrow_schema(tables.MONITOR_ROUNDS))
    if facts.window is None:
        return
    steps = samples.filter(samples["user_step"].is_valid())
    until_s, since_s = (steps[name].to_numpy() for name in ("epoch_s", "since_epoch_s"))
    since_s, until_s, is_own = _spans(since_s, until_s, facts)
    some = is_own & (until_s > since_s)
    steps, since_s, until_s = steps.filter(pa.array(some)), since_s[some], until_s[some]
    if len(steps):
        if facts.measured is not None and (seen_s := _seen_s(before_s, at_s, facts)) > ROUNDING_S:
            yield tables.NODE_USE, _use(about, steps, since_s, until_s, facts.measured, seen_s)
        yield tables.TRIAL_CPU_SERIES, _series(about, steps, since_s, until_s, facts)


def _spans(
    since_epoch_s: Array, until_epoch_s: Array, facts: TrialFacts
) -> tuple[Array, Array, Array]:
    """Begin and end of increments in the trial's time, and whether all of each is its own.

    One that reaches into a turn of another trial is not. Nodes do not rest there: they flush, compact and
    collect garbage. Nobody knows which of its ticks are of which turn, and dool's sample of that second is
    left out as well: the CPU of a host and of its nodes must be of the same seconds, because the rest counts
    as work of others.
    """
    since_s, until_s = facts.at_s(since_epoch_s), facts.at_s(until_epoch_s)
    passed_s = until_epoch_s - since_epoch_s
    is_own = np.isnan(passed_s) | (until_s - since_s >= passed_s - ROUNDING_S)
    since_s = np.where(np.isnan(since_s), until_s - facts.period_s, since_s)
    return since_s, until_s, is_own | (not facts.turns)


def _seen_s(before_epoch_s: Array, at_epoch_s: Array, facts: TrialFacts) -> float:
    """Seconds of the measured part of the window, without rounds that are not all the trial's own."""
    assert facts.measured is not None
    since_s, until_s, is_own = _spans(before_epoch_s, at_epoch_s, facts)
    left_out_s = overlap_s(since_s[~is_own], until_s[~is_own], facts.measured)
    begin_s, end_s = facts.measured
    return float(end_s - begin_s - left_out_s.sum())


def _use(
    about: dict[str, str],
    steps: pa.Table,
    since_s: Array,
    until_s: Array,
    window: tuple[float, float],
    seen_s: float,
) -> pa.Table:
    """CPU ticks within the measured part of the window, of which the increments show `seen_s`."""
    nodes, names = codes(steps["node"])
    # cumulative ticks are interpolated linearly at the edges: an increment counts by its overlap
    share = overlap_s(since_s, until_s, window) / (until_s - since_s)
    order, begins = groups(nodes, *_machine(steps))
    first = order[begins]
    ticks_per_s, cores = (column[first] for column in _machine(steps))
    spent = {
        f"{part}_ticks": exact_sums((_ticks(steps, part) * share)[order], begins) for part in PARTS
    }
    capacity = seen_s * ticks_per_s * cores
    named = {**about, "node": names[nodes[first]], "capacity_ticks": capacity, **spent}
    return table_of(named, arrow_schema(tables.NODE_USE), len(begins))


def _series(
    about: dict[str, str], steps: pa.Table, since_s: Array, until_s: Array, facts: TrialFacts
) -> pa.Table:
    """CPU use per scope and second, in percent of all cores of the host, as in `node_cpu_usage`."""
    assert facts.window is not None
    span, second, inside_s = by_second(since_s, until_s, facts.window)
    nodes, seen = codes(steps["node"])
    scopes, names = codes(pa.array([facts.scopes.get(node, node) for node in seen], pa.string()))
    machine = [column[span] for column in _machine(steps)]
    order, begins = groups(scopes[nodes[span]], second, *machine)
    first, rows = order[begins], span[order]
    share = inside_s[order] / (until_s - since_s)[rows]
    ticks_per_s, cores = (column[first] for column in machine)
    capacity = exact_sums(inside_s[order], begins) * ticks_per_s * cores
    shares: dict[str, Any] = {
        f"cpu_{part}": 100.0 * exact_sums(_ticks(steps, part)[rows] * share, begins) / capacity
        for part in PARTS
    }
    named = {**about, "scope": names[scopes[nodes[span[first]]]], "second": second[first], **shares}
    return table_of(named, arrow_schema(tables.TRIAL_CPU_SERIES), len(begins))


def _machine(steps: pa.Table) -> tuple[Array, Array]:
    """ticks_per_s and cores; a restarted sampler may report other values."""
    return steps["ticks_per_s"].to_numpy(), steps["cores"].to_numpy()


def _ticks(steps: pa.Table, part: str) -> Array:
    ticks: Array = steps[f"{part}_step"].to_numpy().astype(float)
    return ticks
