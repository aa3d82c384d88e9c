"""Looks: a study that ends each question once it is answered looks at its data after every repetition.

How often it may look is known before the data. Each look has a share of the error, so that the looks together
have no more of it than one test at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from scipy import special

from density_study.analysis.statistics.difference import Difference
from density_study.analysis.statistics.power import ALPHA


@dataclass(frozen=True)
class Looks:
    """The looks at a study's questions: one after each of the repetitions `first` to `last`."""

    first: int
    last: int

    @property
    def number(self) -> int:
        return self.last - self.first + 1

    def share(self, at: int) -> float:
        """The share of the error at the look after this repetition: half of it is for the last look, where
        noise is known best, and the others have equal shares of the rest."""
        if self.number == 1:
            return 1.0
        return 0.5 if at >= self.last else 0.5 / (self.number - 1)

    def confidence(self, at: int) -> float:
        """Confidence of an interval at this look, such that with 95 % no look misses."""
        return 1 - ALPHA * self.share(at)

    def p(self, ps: Mapping[int, float]) -> float:
        """The p of a comparison from its p at each look so far. Holm's correction of such p is valid although
        comparisons end at different looks: a comparison that ends early has a larger p than if it went on."""
        # Bonferroni over the looks: P(any p_k <= a w_k) <= a, as the shares w_k sum to 1. Alpha spending by
        # their joint distribution (K. Lan and D. DeMets, Biometrika 70 (1983)) needs a known variance.
        return min(1.0, *(p / self.share(at) for at, p in ps.items()))

    def chance(
        self, found: Difference, units: int, bounds: tuple[float | None, float | None]
    ) -> float:
        """Chance that the last look decides on which side of `bounds` (on the scale of `found`; one may be
        None) the truth is, given `units` so far. Optimistic: as if every other comparison were decided."""
        if units >= self.last:
            return 0.0
        if found.error == 0.0:
            return 1.0
        low = -inf if bounds[0] is None else bounds[0]
        high = inf if bounds[1] is None else bounds[1]
        freedom = found.freedom * (self.last - 1) / (units - 1)
        shifts, ratios = _futures(units, self.last, found.freedom, freedom)
        middle, error = found.middle + found.error * shifts, found.error * ratios

        def margin(sides: int) -> NDArray[np.float64]:
            tail = (1 - self.confidence(self.last)) / sides
            return error * float(special.stdtrit(freedom, 1 - tail))

        # an equivalence is two one-sided tests
        within = margin(1 if isfinite(low) and isfinite(high) else 2)
        inside = (low + within < middle) & (middle < high - within)
        outside = (middle < low - margin(2)) | (middle > high + margin(2))
        return float(np.mean(inside | outside))


_GRID = (64, 8, 16)
"""Quantiles of the mean to come, of the spread of what is to come, and of the true variance."""


@lru_cache(maxsize=64)
def _futures(
    units: int, last: int, freedom: float, freedom_at_end: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equally likely ends of a comparison, by its data so far with a flat prior: how far its mean moves, and
    its standard error, both in standard errors of today. A true variance above that of today moves the mean
    further, and widens the interval as well."""
    normal, rest, true = np.meshgrid(
        *((np.arange(count) + 0.5) / count for count in _GRID), indexing="ij"
    )
    shift = special.ndtri(normal)
    variance = freedom / special.chdtri(freedom, true)  # over that of today
    others = max(0.0, freedom_at_end - freedom - 1)
    to_come = special.chdtri(others, rest) if others else np.zeros_like(rest)
    at_end = (freedom + variance * (shift**2 + to_come)) / freedom_at_end
    moved = shift * np.sqrt(variance * (last - units) / last)
    return moved.ravel(), np.sqrt(at_end * units / last).ravel()
