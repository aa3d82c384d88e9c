"""What all interval logs of a trial add up to: latency percentiles (method 11), and operations per second.

A log has one histogram per second and operation. They are merged while the log is read, so that memory use
does not depend on the length of the trial. A Spark query would first have to join every interval with its
trial and its client.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from density_study.workloads import tables
from density_study.workloads.rows.arrays.arrow_tables import Array, table_of
from density_study.workloads.rows.arrays.exact_sums import exact_sums
from density_study.workloads.rows.arrays.spans import by_second, groups
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.ycsb.facts.latency import merged, nearest_ranks

PERCENTILES = (  # texts, for exact fractions; finer towards the tail, where charts are read
    *(str(five) for five in range(0, 95, 5)),
    *("95", "96", "97", "98", "99", "99.5", "99.8", "99.9", "99.95", "99.98", "99.99", "99.999"),
)
_INTERVALS_AT_ONCE = 256

Histogram = tuple[Array, Array]  # distinct values in us, ascending, and operations at each


@dataclass
class TrialLogs:
    """The merged logs of one trial: histograms by operation and kind of latency, and pieces of intervals
    by second."""

    _merged: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    _seconds: list[Array] = field(default_factory=list)
    _done: list[Array] = field(default_factory=list)
    _lengths_s: list[Array] = field(default_factory=list)

    def add(self, intervals: pa.Table, facts: TrialFacts) -> None:
        """intervals: rows of `ycsb_histograms`."""
        measured = intervals.filter(intervals["measured"])
        for first in range(0, len(measured), _INTERVALS_AT_ONCE):
            self._merge(measured.slice(first, _INTERVALS_AT_ONCE))
        if facts.window is not None:
            self._count(intervals, facts.window)

    def _merge(self, intervals: pa.Table) -> None:
        kinds = list(zip(*(intervals[n].to_pylist() for n in ("operation", "kind")), strict=True))
        for one in dict.fromkeys(kinds):
            same = intervals.filter(pa.array([kind == one for kind in kinds]))
            more = tuple(_flat(same, name) for name in ("value_us", "counts"))
            before = self._merged.get(one, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
            self._merged[one] = merged(
                *(np.concatenate(both) for both in zip(before, more, strict=True))
            )

    def _count(self, intervals: pa.Table, window: tuple[float, float]) -> None:
        """Count successful user operations, ramp-up included, and spread each interval evenly over its
        length."""
        closed_loop = pc.equal(intervals["kind"], "closed-loop")
        intervals = intervals.filter(pc.and_(closed_loop, intervals["counted"].is_valid()))
        since_s = intervals["begun_s"].to_numpy()
        until_s = since_s + intervals["length_s"].to_numpy()
        span, second, inside_s = by_second(since_s, until_s, window)
        lengths_s = until_s - since_s
        self._lengths_s.append(lengths_s[lengths_s > 0])  # 0: in turns of another trial
        self._seconds.append(second)
        self._done.append(intervals["counted"].to_numpy()[span] * (inside_s / lengths_s[span]))

    def percentiles(self, trial: str) -> pa.Table:
        """Rows of `latency_percentiles`."""
        rows = [
            {"trial": trial, "operation": operation, "latency_kind": kind, **row}
            for (operation, kind), histogram in self._merged.items()
            for row in _percentiles(*histogram)
        ]
        return pa.Table.from_pylist(rows, arrow_schema(tables.LATENCY_PERCENTILES))

    def seconds(self, trial: str) -> pa.Table:
        """Rows of `operation_seconds`."""
        schema = arrow_schema(tables.OPERATION_SECONDS)
        second = np.concatenate(self._seconds) if self._seconds else np.zeros(0, np.int64)
        if not len(second):
            return schema.empty_table()
        order, begins = groups(second)
        done = exact_sums(np.concatenate(self._done)[order], begins)
        usual_s = float(np.median(np.concatenate(self._lengths_s)))
        named = {
            "trial": trial,
            "second": second[order][begins],
            "operations": done,
            "interval_s": np.full(len(begins), usual_s),
        }
        return table_of(named, schema, len(begins))


def _percentiles(value_us: Array, counts: Array) -> Iterator[dict[str, object]]:
    for percentile, us in nearest_ranks(value_us, counts, PERCENTILES):
        yield {"percentile": percentile, "value_us": us, "operations": int(counts.sum())}


def _flat(intervals: pa.Table, name: str) -> Array:
    flat: Array = intervals[name].combine_chunks().flatten().to_numpy()
    return flat
