"""The difference of two variants on logarithms: its interval, its tests and what it can detect.

A repetition builds every topology once, so it is a block. Where both variants have every repetition, the
logarithms of their ratios, one per repetition, are one sample: what a repetition does to both variants
cancels. Where a variant lost a build, nobody knows which builds belong together, and the variants are two
samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from scipy import special  # scipy.stats takes ten times as long for an interval

from density_study.analysis.statistics.interval import CONFIDENCE, Interval, logs

MARGIN = (0.8, 1.25)  # symmetric in logs: 0.8 = 1 / 1.25
_ROUNDING = 1e-12  # a smaller standard error, or difference, is one of floating point


@dataclass(frozen=True)
class Difference:
    """The difference of the means of two variants' logarithms, later minus first. error: its standard error;
    freedom: that of Student's t."""

    middle: float
    error: float
    freedom: float

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the ratio."""
        return self.interval_at(CONFIDENCE)

    def interval_at(self, confidence: float) -> Interval:
        """The interval of the ratio at a confidence from 0 to 1."""
        half = float(special.stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return Interval(exp(self.middle - half), exp(self.middle + half))

    def p(self, ratio: float = 1.0) -> float:
        """Two-sided p of "later is `ratio` times first"."""
        return min(1.0, 2 * min(self._above(ratio), self._above(ratio, -1.0)))

    def equivalence_p(self, margin: tuple[float, float] = MARGIN) -> float:
        """p of "the ratio lies outside `margin`"; a small p means it lies inside."""
        # Two one-sided tests, TOST (D. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), for
        # "no effect", "similar" and "flat" (method 2): "not significant" would reward few, noisy builds.
        low, high = margin
        return max(self._above(low), self._above(high, -1.0))  # both must reject

    def _above(self, ratio: float, sign: float = 1.0) -> float:
        """One-sided p: small if the ratio is above `ratio`; with sign -1, below."""
        away = sign * (self.middle - log(ratio))
        if self.error > 0:
            return float(special.stdtr(self.freedom, -away / self.error))
        return 0.5 if abs(away) < _ROUNDING else float(away < 0)


def difference(first: Sequence[float], later: Sequence[float], blocks: int) -> Difference:
    """The difference of two variants with one value per build, of `blocks` repetitions. At least 2 builds per
    variant; ValueError unless all are positive."""
    a, b = logs(first), logs(later)
    if len(a) == len(b) == blocks:
        shifts = b - a  # Student's paired t (Biometrika 6, 1908)
        error = _error(shifts)
        return Difference(float(shifts.mean()), error, blocks - 1)
    # B. L. Welch, Biometrika 34 (1947), with the degrees of freedom of Welch-Satterthwaite: the pooled t
    # interval is too narrow if the smaller variant is the noisier one.
    errors, freedoms = (
        [_error(variant) ** 2 for variant in (a, b)],
        [len(variant) - 1 for variant in (a, b)],
    )
    split = sum(one**2 / free for one, free in zip(errors, freedoms, strict=True))
    freedom = sum(errors) ** 2 / split if split else float(sum(freedoms))
    return Difference(float(b.mean() - a.mean()), sqrt(sum(errors)), freedom)


def _error(units: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    error = float(units.std(ddof=1)) / sqrt(len(units))
    return error if error > _ROUNDING else 0.0


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
