"""The interval of a mean: a t interval, on logarithms if all values are positive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from scipy import special  # scipy.stats takes ten times as long for an interval

CONFIDENCE = 0.95
_FEWEST = 5


@dataclass(frozen=True)
class Interval:
    """Both ends, in the unit of the estimated quantity (a ratio has none)."""

    low: float
    high: float


def ratio_of_means(first: Sequence[float], later: Sequence[float]) -> float:
    """Geometric mean of `later` over that of `first`. ValueError unless all are positive."""
    return exp(float(np.mean(logs(later)) - np.mean(logs(first))))


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """t interval of the mean: geometric if all values are positive, else arithmetic. At least 2 units."""
    # mean +- t(1 - alpha/2, n - 1) * s / sqrt(n)  (Student 1908); in logs where that is possible, because
    # rates and latencies vary in proportion to their size
    positive = min(values) > 0
    units = logs(values) if positive else np.asarray(values, dtype=float)
    half = _quantile(len(units) - 1, confidence) * float(units.std(ddof=1)) / sqrt(len(units))
    middle = float(units.mean())
    low, high = middle - half, middle + half
    return Interval(exp(low), exp(high)) if positive else Interval(low, high)


def outlying(values: Sequence[float]) -> float | None:
    """The most outlying of at least 5 units over the median of all, if it is far from them: by 10 %, and by
    five robust standard deviations."""
    if len(values) < _FEWEST or min(values) <= 0:
        return None
    units = logs(values)
    away = units - np.median(units)
    # 1.4826 times the median deviation is the standard deviation of normal noise (F. Hampel, JASA 69 (1974))
    limit = max(5 * 1.4826 * float(np.median(np.abs(away))), log(1.1))
    most = float(away[np.abs(away).argmax()])
    return exp(most) if abs(most) > limit else None


def _quantile(freedom: float, confidence: float) -> float:
    """Quantile of Student's t: how many standard errors half an interval is."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def logs(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """ValueError unless all are positive."""
    if min(values) <= 0:
        raise ValueError("a ratio needs positive values")
    return np.array([log(value) for value in values])
