"""What the curves of a file teach each other, and what a curve then says where nothing was measured.

Every curve weighs every law (shapes.py) under every deviation from it (deviation.py) by how likely its
levels are then: a mixture of Gaussian processes. The weights before a curve's own data are learnt from
all curves of the file (empirical Bayes, by expectation maximisation, with the weights here as prior),
so that hundreds of curves say how real ones behave, and a lone one has what is known of others. Source:
Rasmussen and Williams 2006; noise of the repeats shrunk as G. Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from analysis.capacity.array import Floats
from analysis.capacity.curve import Curve
from analysis.capacity.deviation import LEAST, Hypothesis, hypotheses
from analysis.capacity.prediction import Mixed, Prediction, mixture
from analysis.capacity.shapes import Shapes

ROUNDS = 15
PRIOR_CURVES = 8.0
"""The prior weights of deviations count as much as so many curves of the file."""
PRIOR_CURVES_OF_LAWS = 50.0
MOST_CURVES = 300
"""Of a larger file so many curves, evenly spaced, teach the rest."""
ENOUGH = 0.995
"""Of the weight of all hypotheses: those that a file does not believe in are left out."""
PRIOR_DEGREES = 4.0
"""Where few curves tell: the file's noise counts as much as four degrees of freedom of a curve's own."""
FEW_CURVES = 8
DEGREES_RANGE = (4.0, 60.0)


@dataclass(frozen=True)
class Noise:
    """Variance of a repeat's log time over the file, and how alike curves are (degrees of freedom)."""

    variance: float
    degrees: float

    def of(self, curve: Curve) -> float:
        """A curve's own variance of repeats, shrunk to the file's."""
        total = self.degrees + curve.repeat_degrees
        if total <= 0:
            return 0.0
        return (self.degrees * self.variance + curve.repeat_squares) / total


@dataclass(frozen=True)
class Calibration:
    """weights (H, K): of hypotheses by shapes, before a curve's own data."""

    shapes: Shapes
    hypotheses: tuple[Hypothesis, ...]
    log_weights: Floats
    noise: Noise

    def predict(self, curve: Curve, x: Floats, without: int | None = None) -> Prediction:
        """What the curve says at x (k,); `without`: the place in it of a cell that it may not see."""
        kept = np.array([i for i in range(len(curve.cells)) if i != without])
        variance = self.noise.of(curve)
        mixed = _mixed(self.shapes, self.hypotheses, curve, kept, variance)
        degrees = self.noise.degrees + curve.repeat_degrees
        return mixture(mixed, self.log_weights, x, variance, degrees)

    def left_out(self, curve: Curve) -> Floats:
        """log predicted / measured of each cell by a curve that has not seen it (m,)."""
        found = [
            self.predict(curve, curve.x[i : i + 1], without=i).log_time[0] - np.log(level)
            for i, level in enumerate(curve.levels)
        ]
        return np.array(found)


def calibrate(curves: Sequence[Curve], shapes: Shapes) -> Calibration:
    """What the file's curves of one axis say together."""
    noise = _noise(curves)
    every = hypotheses(shapes.deviations)
    before = np.log([one.weight for one in every])[:, None] + shapes.log_weights[None, :]
    before = before - special.logsumexp(before)
    usable = [curve for curve in curves if len(curve.cells) > 2]
    usable = usable[:: -(-len(usable) // MOST_CURVES) or 1]
    if not usable:
        return Calibration(shapes, every, before, noise)
    likely = [
        _mixed(shapes, every, curve, np.arange(len(curve.cells)), noise.of(curve)).log_likelihood
        for curve in usable
    ]
    learnt = _learnt(np.stack(likely), np.exp(before))
    kept = _likeliest(learnt.sum(axis=1))
    those = tuple(every[place] for place in kept)
    return Calibration(shapes, those, np.log(learnt[kept]), noise)


def _likeliest(weights: Floats) -> np.ndarray:
    """Places of the heaviest, which hold nearly all of the weight."""
    order = np.argsort(-weights)
    count = int(np.searchsorted(np.cumsum(weights[order]), ENOUGH)) + 1
    return np.sort(order[:count])


def _learnt(log_likelihood: Floats, before: Floats) -> Floats:
    """Weights (H, K) after (curves, H, K) likelihoods: of hypotheses times of shapes, by EM."""
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=(1, 2), keepdims=True))
    count = len(likelihood)
    of_deviations, of_laws = before.sum(axis=1), before.sum(axis=0)
    first_deviations, first_laws = of_deviations.copy(), of_laws.copy()
    for _ in range(ROUNDS):
        by_deviation = (likelihood @ of_laws) * of_deviations
        total = by_deviation.sum(axis=1, keepdims=True)
        by_law = np.einsum("jhk,h->jk", likelihood, of_deviations) * of_laws / total
        of_deviations = PRIOR_CURVES * first_deviations + (by_deviation / total).sum(axis=0)
        of_deviations = of_deviations / (PRIOR_CURVES + count)
        of_laws = PRIOR_CURVES_OF_LAWS * first_laws + by_law.sum(axis=0)
        of_laws = of_laws / (PRIOR_CURVES_OF_LAWS + count)
    result: Floats = of_deviations[:, None] * of_laws[None, :]
    return result


def _mixed(
    shapes: Shapes,
    every: tuple[Hypothesis, ...],
    curve: Curve,
    kept: np.ndarray,
    variance: float,
) -> Mixed:
    """The levels of the kept cells under every hypothesis and shape."""
    x, levels = curve.x[kept], np.log(curve.levels[kept])
    middle = float(np.exp(np.log(curve.x).mean()))
    noise = variance / curve.repeats[kept]
    covariances = np.stack([one.of_levels(np.log(x), noise) for one in every])
    return Mixed(shapes, every, x, middle, levels, covariances)


def _noise(curves: Sequence[Curve]) -> Noise:
    """By moments of the curves' log variances (Smyth's limma): degrees are many where all curves are
    equally noisy, few where some are much noisier than others."""
    seen = [
        (c.repeat_squares / c.repeat_degrees, c.repeat_degrees) for c in curves if c.repeat_degrees
    ]
    if not seen:
        return Noise(0.0, 0.0)
    variances, degrees = (np.array(column, dtype=float) for column in zip(*seen, strict=True))
    if len(seen) < FEW_CURVES:
        return Noise(float((variances * degrees).sum() / degrees.sum()), PRIOR_DEGREES)
    logs = np.log(np.maximum(variances, LEAST**2))
    logs = logs - special.digamma(degrees / 2) + np.log(degrees / 2)
    left = float(np.var(logs, ddof=1) - special.polygamma(1, degrees / 2).mean())
    alike = _degrees(left)
    return Noise(float(np.exp(logs.mean() + special.digamma(alike / 2) - np.log(alike / 2))), alike)


def _degrees(left: float) -> float:
    """Whose trigamma of half is `left`, within the range."""
    low, high = DEGREES_RANGE

    def over(degrees: float) -> float:
        return float(special.polygamma(1, degrees / 2)) - left

    if over(high) >= 0 or left <= 0:
        return high
    return low if over(low) <= 0 else float(optimize.brentq(over, low, high))
