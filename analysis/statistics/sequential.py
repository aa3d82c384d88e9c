"""Intervals and tests that stay valid however often a study looks at its data before it stops.

A study that adds repetitions until its answer is precise enough looks after each of them. With a t interval
each look is another chance to be wrong; a confidence sequence covers the true mean at all looks together with
95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, sqrt

import numpy as np

from density_study.analysis.statistics.interval import Interval
from density_study.analysis.statistics.power import ALPHA

# Variance of the effect in units of the noise between builds: no assumption about the data, and 5 to 30
# builds get the narrowest intervals together at about this value.
_PRIOR = 3.0
_NEVER = Interval(-inf, inf)


def sequence_interval(values: Sequence[float]) -> Interval:
    """The mean's interval at this look: with at least 95 % none of all looks misses the mean. Infinite with
    fewer than 4 values."""
    # T. L. Lai, Annals of Statistics 4 (1976); H. Wang and A. Ramdas, Anytime-valid t-tests and confidence
    # sequences for Gaussian means with unknown variance (2023). All means with a Bayes factor below 1/alpha:
    #   (1 + n g)^(-1/2) ((1 + t^2/v) / (1 + t^2/(v (1 + n g))))^(n/2) < 1/alpha,  v = n - 1,
    # which is t^2 < v (A - 1) / (1 - A / (1 + n g)) with A = ((1 + n g) / alpha^2)^(1/n). The factor is a
    # nonnegative martingale under its mean, so that it ever reaches 1/alpha with probability alpha (Ville).
    n = len(values)
    t = sequence_errors(n)
    if t == inf:
        return _NEVER
    units = np.asarray(values, dtype=float)
    half = t * float(units.std(ddof=1)) / sqrt(n)
    middle = float(units.mean())
    return Interval(middle - half, middle + half)


def sequence_errors(n: int, alpha: float = ALPHA) -> float:
    """So many standard errors are half an interval of n values that misses with `alpha`; infinite with too
    few."""
    grown = 1 + n * _PRIOR
    a = (grown / alpha**2) ** (1 / n) if n > 1 else grown
    return inf if a >= grown else sqrt((n - 1) * (a - 1) / (1 - a / grown))


def sequence_p(values: Sequence[float], mean: float) -> float:
    """p of "the mean is `mean`", valid at any look: the inverse of the Bayes factor, at most 1."""
    n = len(values)
    if n < 2:
        return 1.0
    units = np.asarray(values, dtype=float)
    squared = (float(units.mean()) - mean) ** 2
    variance = float(units.var(ddof=1)) / n
    if variance == 0.0:
        return 1.0 if squared == 0.0 else 0.0
    t2, grown = squared / variance, 1 + n * _PRIOR
    gain = log(1 + t2 / (n - 1)) - log(1 + t2 / (n - 1) / grown)
    return min(1.0, exp(log(grown) / 2 - n / 2 * gain))


def paired_logs(first: Sequence[float], later: Sequence[float]) -> list[float]:
    """Logarithms of later over first, block by block, as far as both variants go. ValueError unless all are
    positive.

    Where a build of one variant is missing, later builds are paired across blocks: each variant's builds are
    exchangeable, so this costs only the part of the noise that a block has in common.
    """
    if min(*first, *later) <= 0:
        raise ValueError("a ratio needs positive values")
    return [log(b) - log(a) for a, b in zip(first, later, strict=False)]


def sequence_ratio(first: Sequence[float], later: Sequence[float]) -> tuple[float, Interval]:
    """Geometric mean of later over first in pairs of builds, and its interval at this look."""
    logs = paired_logs(first, later)
    ends = sequence_interval(logs)
    return exp(float(np.mean(logs))), Interval(_exp(ends.low), _exp(ends.high))


def sequence_mean(values: Sequence[float]) -> Interval:
    """Interval of the mean at this look: geometric if all values are positive, else arithmetic."""
    if min(values) <= 0:
        return sequence_interval(values)
    ends = sequence_interval([log(value) for value in values])
    return Interval(_exp(ends.low), _exp(ends.high))


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
