"""A load whose rate changes with time, part by part: rate requested and achieved, its variation, and intended
latency.

A part is the time of one piece of the clients' schedules, by the clients' own record. Only intervals of the
logs that lie within a part count for it: its histogram and its operations cannot be divided.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from density_study.workloads.base.rows import (
    OPS_S,
    PERCENT,
    Columns,
    Row,
    Rows,
    exact_sum,
    metric,
    only,
)
from density_study.workloads.ycsb.facts.intervals import ends_s, rate
from density_study.workloads.ycsb.facts.latency import PART_PERCENTILES, merged_of, nearest_ranks
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

BUCKETS = ("client", "operation", "outcome", "kind", "begun_s", "length_s", "counted", "value_us",
           "counts")  # fmt: skip


@dataclass(frozen=True)
class Part:
    """The time in which all clients are in one piece, controller's clock."""

    piece: int
    begun_at_s: float
    until_s: float
    requested_ops_s: float | None

    @property
    def scope(self) -> str:
        return f"part:{self.piece:04d}"


def phase_metrics(rows: Rows) -> Iterator[Row]:
    """part_requested, part_rate, part_variation and part_latency, each with the scope of its part."""
    parts = list(_parts(rows.arrays("ycsb_schedule", "client", "piece", "begun_s", "operations")))
    if not parts:
        return
    intervals = rows.arrays("ycsb_histograms", *BUCKETS)
    done = {row["second"]: row["operations"] for row in rows.of("operation_seconds")}
    for part in parts:
        within = (intervals["begun_s"] >= part.begun_at_s) & (ends_s(intervals) <= part.until_s)
        inside = only(intervals, within)
        yield metric("part_requested", OPS_S, part.requested_ops_s, scope=part.scope)
        yield metric("part_rate", OPS_S, _rate(inside), scope=part.scope)
        yield from _variation(part, rows.trial["window_start_epoch_s"], done)
        yield from _latency(part, inside)


def _parts(schedule: Columns) -> Iterator[Part]:
    for piece in np.unique(schedule["piece"][schedule["piece"] > 0]).tolist():
        rows = only(schedule, schedule["piece"] == piece)
        of_each = [only(rows, rows["client"] == one) for one in np.unique(rows["client"])]
        asked = [
            (exact_sum(one["operations"].tolist()) or 0.0) / len(one["client"]) for one in of_each
        ]
        yield Part(
            int(piece),
            begun_at_s=max(float(one["begun_s"].min()) for one in of_each),
            until_s=min(float(one["begun_s"].max()) + 1.0 for one in of_each),
            requested_ops_s=exact_sum(asked),
        )


def _rate(inside: Columns) -> float | None:
    """Over all clients and operations that succeeded; None without a whole interval."""
    counts = only(inside, (inside["kind"] == "closed-loop") & ~np.isnan(inside["counted"]))
    logs = list(zip(counts["client"], counts["operation"], strict=True))
    return exact_sum(
        rate(only(counts, np.array([one == log for one in logs]))) for log in dict.fromkeys(logs)
    )


def _variation(part: Part, start_s: float | None, done: dict[int, float]) -> Iterator[Row]:
    """Standard deviation over mean of the rate by second; of a part with a constant rate only the cluster's
    doing. No row without three whole seconds."""
    if start_s is None:
        return
    first, last = math.ceil(part.begun_at_s - start_s), math.floor(part.until_s - start_s)
    if last > first + 1:
        rates = [done.get(second, 0.0) for second in range(first, last)]
        mean = statistics.fmean(rates)
        cv = 100.0 * statistics.stdev(rates) / mean if mean > 0 else None
        yield metric("part_variation", PERCENT, cv, scope=part.scope)


def _latency(part: Part, inside: Columns) -> Iterator[Row]:
    succeeded = np.array([outcome is None for outcome in inside["outcome"]], bool)
    intended = (inside["kind"] == "intended") & succeeded
    for operation in dict.fromkeys(inside["operation"][intended].tolist()):
        if operation in NOT_OF_USERS:
            continue
        logs = only(inside, intended & (inside["operation"] == operation))
        for percentile, us in nearest_ranks(*merged_of(logs), PART_PERCENTILES):
            yield metric(
                "part_latency", "ms", None if us is None else us / 1000.0, scope=part.scope,
                operation=operation, latency_kind="intended", percentile=percentile,
            )  # fmt: skip
