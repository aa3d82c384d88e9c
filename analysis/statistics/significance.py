"""Tests of a ratio of two arms, and Holm's adjustment of their p values."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb, log

import numpy as np
import scipy

MARGIN = (0.8, 1.25)  # symmetric in logs: 0.8 = 1 / 1.25
# Up to this many arrangements are counted one by one; beyond, with ties, the normal approximation is used.
MAX_ARRANGEMENTS = 20_000


def rank_p(first: Sequence[float], later: Sequence[float], ratio: float = 1.0) -> float:
    """Two-sided p of "`later` is `ratio` times `first`". Values positive, at least one per arm."""
    # Exact Mann-Whitney test (H. Mann and D. Whitney, Annals of Mathematical Statistics 18, 1947): with five
    # builds per arm, no assumption about their distribution could be checked. Ranks need no logarithms.
    shifted = [value * ratio for value in first]
    if comb(len(first) + len(later), len(first)) <= MAX_ARRANGEMENTS:
        return _counted_p(shifted, later)
    tied = len({*shifted, *later}) < len(shifted) + len(later)
    method = "asymptotic" if tied else "exact"  # scipy's exact distribution is wrong for ties
    # at most 1: a two-sided p is twice that of one tail
    return min(float(scipy.stats.mannwhitneyu(later, shifted, method=method).pvalue), 1.0)


def _counted_p(first: Sequence[float], later: Sequence[float]) -> float:
    """Twice the share of arrangements whose ranks in `later` have a sum at least as extreme; ties have their
    mean rank. scipy gives the same p, slower: for ties, two milliseconds each."""
    ordered = sorted((*first, *later))
    # doubled, so that a mean rank is whole
    ranks = {value: bisect_left(ordered, value) + bisect_right(ordered, value) for value in ordered}
    sums = _rank_sums(len(later), tuple(ranks[value] for value in ordered))
    found = sum(ranks[value] for value in later)
    below = sum(count for total, count in sums.items() if total <= found)
    above = sum(count for total, count in sums.items() if total >= found)
    return float(min(Fraction(1), Fraction(2 * min(below, above), sums.total())))


@cache
def _rank_sums(size: int, ranks: tuple[int, ...]) -> Counter[int]:
    """Each sum of `size` of the ranks, with the number of arrangements that have it."""
    ways = [Counter({0: 1}), *(Counter[int]() for _ in range(size))]  # by how many are chosen
    for rank in ranks:
        for chosen in range(size, 0, -1):
            for total, count in ways[chosen - 1].items():
                ways[chosen][total + rank] += count
    return ways[size]


def least_p(first: int, later: int) -> float:
    """The smallest possible p: 2 of all C(first + later, first) arrangements; 1 without units."""
    return float(min(Fraction(1), Fraction(2, comb(first + later, first))))


def equivalence_p(
    first: Sequence[float], later: Sequence[float], margin: tuple[float, float] = MARGIN
) -> float:
    """p of "the ratio of `later` to `first` lies outside `margin`"; a small p means it lies inside. At
    least 2 units per arm, all positive."""
    # Two one-sided tests, TOST (D. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), required
    # for "no effect", "similar" and "flat" (method 2): "not significant" would reward few, noisy builds.
    low, high = margin
    a, b = (np.log(np.asarray(arm, dtype=float)) for arm in (first, later))
    if a.std() == b.std() == 0.0:
        return 0.0 if low < float(np.exp(b[0] - a[0])) < high else 1.0
    above = scipy.stats.ttest_ind(b, a + log(low), equal_var=False, alternative="greater").pvalue
    below = scipy.stats.ttest_ind(b, a + log(high), equal_var=False, alternative="less").pvalue
    return float(max(above, below))  # both must reject


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """The adjusted p of each, in the given order; significant at 5 % if at most 0.05. With no true effect,
    at most 5 % of families contain a claim."""
    # S. Holm, Scandinavian J. Statistics 6 (1979): never weaker than Bonferroni, whatever the dependence.
    # p(i) adjusted = max over j <= i of min(1, (m - j + 1) * p(j)), with p sorted ascending
    adjusted = [1.0] * len(ps)
    so_far = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        so_far = max(so_far, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = so_far
    return tuple(adjusted)
