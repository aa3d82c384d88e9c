"""Looks: a study that ends each question once it is answered looks at its data after every repetition.

How often it may look is known before the data. Each look has an equal share of the error, so that the looks
together have no more of it than one test at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    @property
    def confidence(self) -> float:
        """Of an interval at one look, so that with 95 % no look misses."""
        return 1 - ALPHA / self.number

    def p(self, ps: Sequence[float]) -> float:
        """Of a comparison, from its p at each look so far. Holm's correction of such p is valid although
        comparisons end at different looks: a comparison that ends early has a larger p than if it went on."""
        # Bonferroni over the looks: P(any p <= a / K) <= a. Alpha spending by the joint distribution of the
        # looks (K. Lan and D. DeMets, Biometrika 70 (1983)) needs a known variance.
        return min(1.0, self.number * min(ps))

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
            errors = float(special.stdtrit(freedom, 1 - (1 - self.confidence) / sides))
            return errors * found.error * sqrt(units / self.last)

        within = margin(
            1 if isfinite(low) and isfinite(high) else 2
        )  # an equivalence is two one-sided tests
        inside = below(high - within) - below(low + within)
        outside = below(low - margin(2)) + 1 - below(high + margin(2))
        return max(0.0, inside) + outside
