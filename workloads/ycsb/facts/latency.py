"""Latency percentiles of a trial.

They come from merged histograms, never from averaged percentiles (method 11). Clients measure closed-loop
latency, and in latency trials also intended latency; both keep their names (method 10).

Records that others made may have no interval logs. Only for these, percentiles come from YCSB's summary, if
there is one client and no ramp-up to be cut.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from density_study.workloads.base.evidence import MIN_SLOWER
from density_study.workloads.base.rows import Array, Columns, Row, Rows, known, metric, only
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
PART_PERCENTILES = (50.0, 99.0)
"""Percentiles of a part of a load whose rate changes with time."""
_PRINTED = re.compile(r"([0-9.]+)(?:th)?PercentileLatency")


def latency_metrics(rows: Rows) -> Iterator[Row]:
    """Latency in ms by operation, kind and percentile. None with fewer than 10 / (1 - p) operations."""
    merged = [row for row in rows.of("latency_percentiles") if row["percentile"] in PERCENTILES]
    trial = rows.trial
    if not merged and trial["imported"] and trial["clients"] == 1 and trial["warm_up_s"] == 0:
        merged = list(_of_summary(rows.of("ycsb_summary")))
    for row in merged:
        which = {name: row[name] for name in ("operation", "latency_kind", "percentile")}
        ms = None if row["value_us"] is None else row["value_us"] / 1000.0
        yield metric("latency", "ms", ms, **which)


def _of_summary(summary: Sequence[Row]) -> Iterator[Row]:
    """Percentiles that YCSB printed; no row if YCSB counted in buckets of 1 ms: then all are whole ms, which
    those of a HdrHistogram are not."""
    blocks: dict[str, list[Row]] = defaultdict(list)  # [READ], [Intended-READ], ...
    for row in summary:
        if row["outcome"] is None and row["operation"] not in NOT_OF_USERS:
            blocks[row["name"]].append(row)
    for block in blocks.values():
        printed = [row["value"] for row in block if _printed(row["measure"]) in PERCENTILES]
        if any(row["unit"] is None for row in block) or not any(us % 1000 for us in known(printed)):
            continue
        counts = [row["value"] for row in block if row["measure"] == "Operations"]
        operations = max(known(counts), default=0.0)
        for row in block:
            percentile = _printed(row["measure"])
            if row["unit"] == "us" and percentile in PERCENTILES:
                yield {
                    "operation": row["operation"],
                    "latency_kind": "intended" if row["intended"] else "closed-loop",
                    "percentile": percentile,
                    "value_us": row["value"] if enough(operations, percentile) else None,
                }


def _printed(measure: str) -> float:
    """95thPercentileLatency is 95; NaN for another measure."""
    match = _PRINTED.fullmatch(measure)
    try:
        return float(match.group(1)) if match else float("nan")
    except ValueError:  # two points
        return float("nan")


def enough(operations: float, percentile: float | str) -> bool:
    """Whether a percentile is known: with fewer operations beyond it, it is chance (method 11)."""
    return operations * (1 - _share(percentile)) >= MIN_SLOWER


def nearest_ranks(
    value_us: Array, counts: Array, percentiles: Iterable[float | str]
) -> Iterator[tuple[float, int | None]]:
    """Each percentile of merged buckets, and its value in us: the lowest bucket that at least p percent of
    the operations do not exceed; the 0th is the first operation. None with fewer than 10 / (1 - p)
    operations. value_us: ascending. Nothing without operations."""
    reached = np.cumsum(counts)
    total = int(reached[-1]) if len(reached) else 0
    for percentile in percentiles if total else ():
        rank = max(1, math.ceil(total * _share(percentile)))
        place = int(np.searchsorted(reached, rank))
        yield float(percentile), int(value_us[place]) if enough(total, percentile) else None


def _share(percentile: float | str) -> Fraction:
    return Fraction(str(percentile)) / 100  # 0.999 as a float can move the rank by one


def merged(value_us: Array, counts: Array) -> tuple[Array, Array]:
    """Merge the buckets of many histograms: the values, ascending, and the operations at each."""
    values, place = np.unique(value_us, return_inverse=True)
    sums = np.zeros(len(values), np.int64)
    np.add.at(sums, place, counts)
    return values, sums


def merged_of(intervals: Columns) -> tuple[Array, Array]:
    """The values in us and the counts of all histograms of these intervals together."""
    none = [np.zeros(0, np.int64)]
    value_us, counts = (
        np.concatenate([*none, *intervals[name]]) for name in ("value_us", "counts")
    )
    return merged(value_us, counts)


def intended_ms(rows: Rows, operation: str, percentile: float) -> float | None:
    """A percentile of the intended latency of successful operations after the ramp-up, of all clients
    together; None with fewer than 10 / (1 - p) operations."""
    intervals = rows.arrays(
        "ycsb_histograms", "operation", "kind", "measured", "value_us", "counts"
    )
    wanted = intervals["measured"] & (intervals["kind"] == "intended")
    logs = only(intervals, wanted & (intervals["operation"] == operation))
    for _, us in nearest_ranks(*merged_of(logs), [percentile]):
        return None if us is None else us / 1000.0
    return None
