"""Sums of arrays that do not depend on the order: `jobs.spark.columns` for numpy."""

from __future__ import annotations

import numpy as np

from density_study.workloads.rows.arrays.arrow_tables import Array

FINE = 1e9
COARSE = 1e3  # for bytes and bytes per second
_LIMIT = 2.0**63


def exact_sums(values: Array, begins: Array, steps: float = FINE) -> Array:
    """Fixed-point sum of each run of `values`, in units of 1/`steps`. Runs are contiguous, start at `begins`
    and are not empty. NaN is null: it is skipped, and a run with only NaN gives NaN. OverflowError for a
    sum beyond 9.2e18 / steps."""
    if not len(values):
        return np.empty(0)
    fine = values * steps
    np.rint(fine, out=fine)
    highest = fine.max()
    if np.isnan(highest):
        known = ~np.isnan(values)
        sums = exact_sums(np.where(known, values, 0.0), begins, steps)
        return np.where(np.logical_or.reduceat(known, begins), sums, np.nan)
    # A common bound by the largest value is cheaper than adding up the magnitudes of each run.
    if max(highest, -fine.min()) * len(fine) >= _LIMIT:
        _require_room(np.add.reduceat(np.abs(fine), begins), steps)
    return _run_sums(fine, begins) / steps


def _run_sums(values: Array, begins: Array) -> Array:
    """Sums of whole numbers by running totals."""
    # Most runs have one or two values, where reduceat takes three times as long. The totals may wrap
    # around, but their differences are still correct (modular arithmetic).
    totals = np.empty(len(values) + 1, np.int64)
    totals[0] = 0
    totals[1:] = values
    np.cumsum(totals, out=totals)
    sums: Array = np.diff(totals[begins], append=totals[-1:])
    return sums


def _require_room(magnitudes: Array, steps: float) -> None:
    if magnitudes.max() >= _LIMIT:
        raise OverflowError(
            f"a sum exceeds {_LIMIT / steps:.2g}, more than any machine can measure"
        )
