"""Exact Mann-Whitney test of a ratio: it assumes no distribution of the builds' values.

Mann, H. B. and Whitney, D. R. (1947). On a test of whether one of two random variables is
stochastically larger than the other. Annals of Mathematical Statistics 18.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from scipy import stats

NAME = "Mann-Whitney, exact"
MAX_ARRANGEMENTS = 20_000
"""With ties, up to this many arrangements are enumerated; beyond, the normal approximation is used."""


def rank_p(first: Sequence[float], later: Sequence[float], ratio: float = 1.0) -> float:
    """Two-sided p of "`later` is `ratio` times `first`". Values positive, at least one per arm."""
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
    """The smallest possible p: 2 of all C(first + later, first) arrangements; 1 without units."""
    return float(min(Fraction(1), Fraction(2, comb(first + later, first))))
