"""Percentiles of a trial, from the merged histograms of all its interval logs (method 11).

A log has one histogram per second. They are merged while the log is read, so that memory use does not
depend on the length of the trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.tables.arrow import arrow_schema
from jobs.arrays.arrow_tables import Array

PERCENTILES = (
    *(str(five) for five in range(0, 95, 5)),
    *("95", "96", "97", "98", "99", "99.5", "99.8", "99.9", "99.95", "99.98", "99.99", "99.999"),
)
"""Finer towards the tail, where latency charts are read."""
_INTERVALS_AT_ONCE = 256

Histogram = tuple[Array, Array]
"""Distinct values in us, ascending, and the number of operations at each."""


@dataclass
class TrialHistograms:
    """The merged histograms of one trial's logs, by operation and kind of latency."""

    _merged: dict[tuple[str, str], Histogram] = field(default_factory=dict)

    def add(self, intervals: pa.Table) -> None:
        """intervals: rows of `ycsb_histograms`; only measured ones count."""
        intervals = intervals.filter(intervals["measured"])
        for first in range(0, len(intervals), _INTERVALS_AT_ONCE):
            self._add(intervals.slice(first, _INTERVALS_AT_ONCE))

    def _add(self, intervals: pa.Table) -> None:
        kinds = list(zip(*(intervals[n].to_pylist() for n in ("operation", "kind")), strict=True))
        for one in dict.fromkeys(kinds):
            same = intervals.filter(pa.array([kind == one for kind in kinds]))
            more = tuple(_flat(same, name) for name in ("value_us", "counts"))
            before = self._merged.get(one, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
            self._merged[one] = merged(
                *(np.concatenate(both) for both in zip(before, more, strict=True))
            )

    def percentiles(self, trial: str) -> pa.Table:
        """Rows of `latency_percentiles`."""
        rows = [
            {"trial": trial, "operation": operation, "latency_kind": kind, **row}
            for (operation, kind), histogram in self._merged.items()
            for row in _percentiles(*histogram)
        ]
        return pa.Table.from_pylist(rows, arrow_schema(tables.LATENCY_PERCENTILES))


def merged(value_us: Array, counts: Array) -> Histogram:
    """Merge the buckets of many histograms."""
    values, place = np.unique(value_us, return_inverse=True)
    sums = np.zeros(len(values), np.int64)
    np.add.at(sums, place, counts)
    return values, sums


def _percentiles(value_us: Array, counts: Array) -> Iterator[dict[str, object]]:
    """Nearest-rank percentiles: the p-th is the lowest bucket that at least p percent of the operations do
    not exceed, in exact arithmetic. The 0th is the first operation."""
    reached = np.cumsum(counts)
    total = int(counts.sum())
    for percentile in PERCENTILES if total else ():
        share = Fraction(percentile) / 100
        place = np.searchsorted(reached, max(1, math.ceil(total * share)))
        enough = total * (1 - share) >= 10
        yield {
            "percentile": float(percentile),
            "value_us": int(value_us[place]) if enough else None,
            "operations": total,
        }


def _flat(intervals: pa.Table, name: str) -> Array:
    flat: Array = intervals[name].combine_chunks().flatten().to_numpy()
    return flat
