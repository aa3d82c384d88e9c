"""Intervals of a mean and of a ratio of means: t intervals, on logarithms if all values are positive."""

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
    return exp(float(np.mean(_logs(later)) - np.mean(_logs(first))))


def ratio_interval(first: Sequence[float], later: Sequence[float]) -> Interval:
    """Interval of `ratio_of_means`. At least 2 units per arm; ValueError unless all are positive."""
    a, b = _logs(first), _logs(later)
    if a.std() == b.std() == 0.0:  # Welch divides by the spread
        middle = ratio_of_means(first, later)
        return Interval(middle, middle)
    # B. L. Welch, Biometrika 34 (1947), with the degrees of freedom of Welch-Satterthwaite: the pooled t
    # interval is too narrow if the smaller arm is the noisier one.
    parts = [float(arm.var(ddof=1)) / len(arm) for arm in (a, b)]
    split = sum(part**2 / (len(arm) - 1) for part, arm in zip(parts, (a, b), strict=True))
    half = _quantile(sum(parts) ** 2 / split) * sqrt(sum(parts))
    middle = float(b.mean() - a.mean())
    return Interval(exp(middle - half), exp(middle + half))


def mean_interval(values: Sequence[float]) -> Interval:
    """t interval of the mean: geometric if all values are positive, else arithmetic. At least 2 units."""
    # mean +- t(1 - alpha/2, n - 1) * s / sqrt(n)  (Student 1908); in logs where that is possible, because
    # rates and latencies vary in proportion to their size
    positive = min(values) > 0
    units = _logs(values) if positive else np.asarray(values, dtype=float)
    half = _quantile(len(units) - 1) * float(units.std(ddof=1)) / sqrt(len(units))
    middle = float(units.mean())
    low, high = middle - half, middle + half
    return Interval(exp(low), exp(high)) if positive else Interval(low, high)


def outlying(values: Sequence[float]) -> float | None:
    """The most outlying of at least 5 units over the median of all, if it is far from them: by 10 %, and by
    five robust standard deviations."""
    if len(values) < _FEWEST or min(values) <= 0:
        return None
    logs = _logs(values)
    away = logs - np.median(logs)
    # 1.4826 times the median deviation is the standard deviation of normal noise (F. Hampel, JASA 69 (1974))
    limit = max(5 * 1.4826 * float(np.median(np.abs(away))), log(1.1))
    most = float(away[np.abs(away).argmax()])
    return exp(most) if abs(most) > limit else None


def spread(first: Sequence[float], later: Sequence[float]) -> float:
    """Pooled standard deviation of the logarithms: about the coefficient of variation within an arm."""
    a, b = _logs(first), _logs(later)
    # s = sqrt((SS1 + SS2) / (n1 + n2 - 2)), each arm around its own mean: the effect is not noise
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    return float(np.sqrt(squares / (len(a) + len(b) - 2)))


def _quantile(freedom: float) -> float:
    """Of Student's t: so many standard errors are half an interval."""
    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _logs(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if min(values) <= 0:
        raise ValueError("a ratio needs positive values")
    return np.array([log(value) for value in values])
