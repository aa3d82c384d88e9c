"""Mann-Whitney's exact test of a ratio: no assumption of how builds vary."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from scipy import stats

NAME = "Mann-Whitney, exact"
MAX_ARRANGEMENTS = 20_000
"""Ties are enumerated up to so many arrangements; beyond, the normal approximation is as good."""


def rank_p(first: Sequence[float], later: Sequence[float], ratio: float = 1.0) -> float:
    """Two-sided p of "`later` is `ratio` times `first`". Values positive, at least one an arm."""
    shifted = [value * ratio for value in first]
    tied = len({*shifted, *later}) < len(shifted) + len(later)
    few = comb(len(first) + len(later), len(first)) <= MAX_ARRANGEMENTS
    if not tied:
        method: object = "exact"
    elif few:
        method = stats.PermutationMethod(n_resamples=MAX_ARRANGEMENTS)
    else:
        method = "asymptotic"
    return min(float(stats.mannwhitneyu(later, shifted, method=method).pvalue), 1.0)


def least_p(first: int, later: int) -> float:
    """The smallest p that so many units an arm can give: 2 of all arrangements; 1 without units."""
    return float(min(Fraction(1), Fraction(2, comb(first + later, first))))
