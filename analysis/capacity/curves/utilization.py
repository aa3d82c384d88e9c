"""Utilization law: U = U0 + S*X, from monitor samples at several loads of one arm.

Source: P. Denning and J. Buzen, The Operational Analysis of Queueing Network Models (1978).

U0 is what runs anyway, S the percent of the hosts' cores that one thing a second takes. Both are not
negative. Above 100 % there is nothing, so a load whose U would lie there is beyond saturation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from workloads.base.values import Frozen

MIN_LOADS = 2


class UtilizationLaw(Frozen):
    """idle_percent: U0. percent_per_rate: S, percent per unit per second. spread: in points."""

    idle_percent: float
    percent_per_rate: float
    spread_points: float
    largest_rate: float
    loads: int


def fit_utilization(rates: Sequence[float], percents: Sequence[float]) -> UtilizationLaw | None:
    """The law through (rate, percent); None with fewer than 2 distinct rates."""
    rate, percent = np.asarray(rates, dtype=float), np.asarray(percents, dtype=float)
    distinct = len(np.unique(np.round(rate / rate.max(), 2))) if len(rate) else 0
    if distinct < MIN_LOADS:
        return None
    scale = rate.max()
    # non-negative least squares (Lawson and Hanson 1974)
    # non-negative least squares (Lawson and Hanson 1974)
    (idle, slope), _ = nnls(np.stack([np.ones_like(rate), rate / scale], axis=1), percent)
    misses = percent - idle - slope * rate / scale
    degrees = max(1, len(rate) - 2)
    spread = float(np.sqrt((misses**2).sum() / degrees))
    return UtilizationLaw(
        idle_percent=float(idle),
        percent_per_rate=float(slope / scale),
        spread_points=spread,
        largest_rate=float(scale),
        loads=distinct,
    )
