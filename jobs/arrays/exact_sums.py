"""Sums of arrays that do not depend on their order: those of `jobs.spark.exact`, where rows are arrays."""

from __future__ import annotations

import numpy as np

from jobs.arrays.array import Array

FINE = 1e9
COARSE = 1e3
"""For bytes and bytes a second."""
_MOST = 2.0**63


def exact_sums(values: Array, begins: Array, steps: float = FINE) -> Array:
    """The sum of each run of `values` as whole numbers of 1/`steps`: runs lie behind each other, begin
    at `begins` and are not empty. NaN stands for null: it is left out, and a run of nothing else gives
    NaN. OverflowError for a sum beyond 9.2e18 / steps."""
    if not len(values):
        return np.empty(0)
    fine = np.rint(values * steps)
    most, least = fine.max(), fine.min()
    if np.isnan(most):
        return _sums_of_known(values, begins, steps)
    # to bound all of them together by the largest is cheaper than to add up each run's magnitudes
    if max(most, -least) * len(fine) >= _MOST:
        _require_room(np.add.reduceat(np.abs(fine), begins), steps)
    sums: Array = _run_sums(fine.astype(np.int64), begins) / steps
    return sums


def _sums_of_known(values: Array, begins: Array, steps: float) -> Array:
    known = ~np.isnan(values)
    sums = exact_sums(np.where(known, values, 0.0), begins, steps)
    counts = np.add.reduceat(known.astype(np.int64), begins)
    return np.where(counts > 0, sums, np.nan)


def _run_sums(values: Array, begins: Array) -> Array:
    """By running totals: most runs are of one or two values, where a call of `reduceat` for each takes
    three times as long. Whole numbers may go round; their differences do not show it."""
    totals = np.empty(len(values) + 1, np.int64)
    totals[0] = 0
    np.cumsum(values, out=totals[1:])
    edges = totals.take(np.append(begins, len(values)))
    sums: Array = edges[1:] - edges[:-1]
    return sums


def _require_room(magnitudes: Array, steps: float) -> None:
    if magnitudes.max() >= _MOST:
        raise OverflowError(
            f"a sum is beyond {_MOST / steps:.2g}: no machine's figures add up to it"
        )


def exact_sum(values: Array, steps: float = FINE) -> float:
    """Of all of `values`, which are some."""
    return float(exact_sums(values, np.zeros(1, np.int64), steps)[0])
