"""Looks: a study that ends each question once it is answered looks at its data after every repetition.

How often it may look is known before the data. Each look has a share of the error, so that the looks together
have no more of it than one test at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, sqrt

from scipy import special

from density_study.analysis.statistics.difference import Difference
from density_study.analysis.statistics.power import ALPHA


@dataclass(frozen=True)
class Looks:
    """After each of the repetitions `first` to `last`."""

    first: int
    last: int

    @property
    def number(self) -> int:
        return self.last - self.first + 1

    def share(self, at: int) -> float:
        """Of the error, at the look after this repetition: half of it is for the last look, where noise is
        known best, and the others have equal shares of the rest."""
        if self.number == 1:
            return 1.0
        return 0.5 if at >= self.last else 0.5 / (self.number - 1)

    def confidence(self, at: int) -> float:
        """Of an interval at this look, so that with 95 % no look misses."""
        return 1 - ALPHA * self.share(at)

    def p(self, ps: Mapping[int, float]) -> float:
        """Of a comparison, from its p at each look so far. Holm's correction of such p is valid although
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
        low, high = (
            (-inf if bounds[0] is None else bounds[0]),
            (inf if bounds[1] is None else bounds[1]),
        )
        freedom = found.freedom * (self.last - 1) / (units - 1)
        # the mean at the end around the mean so far: predictive distribution, with a flat prior
        spread = found.error * sqrt((self.last - units) / self.last)

        def below(end: float) -> float:
            return float(special.stdtr(found.freedom, (end - found.middle) / spread))

        def margin(sides: int) -> float:
            errors = float(special.stdtrit(freedom, 1 - (1 - self.confidence(self.last)) / sides))
            return errors * found.error * sqrt(units / self.last)

        within = margin(
            1 if isfinite(low) and isfinite(high) else 2
        )  # an equivalence is two one-sided tests
        inside = below(high - within) - below(low + within)
        outside = below(low - margin(2)) + 1 - below(high + margin(2))
        return max(0.0, inside) + outside
