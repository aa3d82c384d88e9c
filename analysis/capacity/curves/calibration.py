"""Calibration of curves: prior weights learnt from all curves of a file, and widths of intervals.

Each curve weighs every law (shapes.py) with every deviation from it (deviation.py) by the likelihood of
its levels: a mixture of Gaussian processes (Rasmussen and Williams 2006). The prior weights are learnt from
all curves of the file by empirical Bayes with expectation maximisation (Dempster, Laird and Rubin 1977), so
that a single curve benefits from the others. The variance of repeats is shrunk towards that of the file
(G. Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize, special, stats

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.curve import Curve
from density_study.analysis.capacity.curves.deviation import (
    CELL_ERRORS,
    LEAST,
    LONE_ERRORS,
    Hypotheses,
    hypotheses,
)
from density_study.analysis.capacity.curves.prediction import LEVEL, Mixed, Prediction, mixture
from density_study.analysis.capacity.curves.shapes import Shapes

ROUNDS = 15  # of expectation maximisation
PRIOR_CURVES = 8.0  # the prior weights of deviations count as much as this many curves of the file
PRIOR_CURVES_OF_LAWS = 50.0  # the same for the weights of laws
MAX_CURVES = 300  # from a larger file, this many evenly spaced curves are used to learn
ENOUGH = 0.995  # share of the total weight to keep: what a file makes unlikely is omitted
# With few curves, the file's noise counts as much as four degrees of freedom of a curve.
PRIOR_DEGREES = 4.0
FEW_CURVES = 8  # with fewer, the variance of variances and a 90 % quantile are mostly noise
DEGREES_RANGE = (4.0, 60.0)  # fewer: extreme tails of Student's t; more: the normal distribution
# Default factors of half widths between and beyond the measured places, with and without repetitions:
# with them, 90 % intervals of single groups covered 90 % on public (C3O, Scout) and generated clusters.
REPEATED_STRETCH = (1.1, 1.0)
LONE_STRETCH = (1.2, 1.25)
# If weights were learnt from the predicted curves: additional factor inside, minimum factor beyond.
LEARNT_STRETCH = (1.07, 1.02)
# Misses of left-out cells grow as a power of the predicted sd: 1 if widths are right, 0 if they tell nothing.
# The narrowest are narrow by luck, too. Mean and sd of the power on ClickBench's records of Databricks,
# ClickHouse, DuckDB, Snowflake and Firebolt; each file learns its own.
POWER = (0.6, 0.4)
LOG_NORMAL_VARIANCE = np.pi**2 / 8  # of log |x|, x normal: trigamma(1/2) / 4
MAX_SCORED = 24  # curves used for leave-one-out calibration of a file's widths: it is slow
PRIOR_CELLS = 20.0  # the default factors count as much as this many left-out cells
PRIOR_STEPS = 50  # quantiles that stand for the default distribution
MIN_SCORED = 4  # cells of such a curve, so that three remain


@dataclass(frozen=True)
class Noise:
    """Variance of a repeat's log time over the file, and its prior degrees of freedom."""

    variance: float
    degrees: float

    def of(self, curve: Curve) -> float:
        """A curve's variance of repeats, shrunk to the file's: (d0 s0^2 + d s^2) / (d0 + d) (Smyth 2004)."""
        total = self.degrees + curve.repeat_degrees
        if total <= 0:
            return 0.0
        return (self.degrees * self.variance + curve.repeat_squares) / total


@dataclass(frozen=True)
class Widths:
    """Factors of half widths: `factor` where the sd of a prediction is `middle`, less up to `largest`."""

    factor: float
    middle: float = 1.0
    power: float = 1.0
    largest: float = 1.0

    def stretch(self, sds: Floats) -> Floats:
        relative = np.minimum(sds, self.largest) / self.middle
        result: Floats = self.factor * relative ** (self.power - 1.0)
        return result


@dataclass(frozen=True)
class Calibration:
    """log_weights (H, K): prior weights of hypotheses by shapes."""

    shapes: Shapes
    hypotheses: Hypotheses
    log_weights: Floats
    noise: Noise
    curves: tuple[Curve, ...] = ()  # for the leave-one-out calibration of interval widths

    def predict(self, curve: Curve, x: Floats) -> Prediction:
        """Prediction at x (k,), with calibrated widths."""
        inside = (x >= curve.x[0]) & (x <= curve.x[-1])
        found, (within, beyond) = self._predict(curve, x), self.widths
        # the power is of places that were not measured
        sds = np.where(np.isin(x, curve.x), within.middle, found.sds)
        return replace(found, stretch=np.where(inside, within.stretch(sds), beyond))

    def left_out(self, curve: Curve) -> Floats:
        """log(predicted / measured) of each cell, predicted from the other cells (m,)."""
        found = [self._predict(curve, curve.x[i : i + 1], i) for i in range(len(curve.cells))]
        return np.array([one.log_time[0] for one in found]) - np.log(curve.levels)

    @cached_property
    def widths(self) -> tuple[Widths, float]:
        """Factors of half widths: between the measured places, and beyond them."""
        usual = REPEATED_STRETCH if self.noise.variance else LONE_STRETCH
        if len(self.curves) < FEW_CURVES:
            return Widths(usual[0]), usual[1]
        # The 90 % quantile of the misses of left-out repetitions, in half widths, combined with the default
        # (split conformal prediction: V. Vovk et al., Algorithmic Learning in a Random World, 2005). An
        # inner cell left out is interpolated, the last one extrapolated. Below the first: surface.py.
        inner = [self._scored(c, i) for c in self.curves for i in range(1, len(c.cells) - 1)]
        last = [self._scored(c, len(c.cells) - 1)[1] for c in self.curves]
        sds, within = np.array([sd for sd, _ in inner]), [scores for _, scores in inner]
        middle = float(np.exp(np.log(sds).mean()))
        power = _power(np.log(sds / middle), within)
        scaled = [one * (sd / middle) ** (1 - power) for sd, one in inner]
        factor = LEARNT_STRETCH[0] * _stretch(scaled, usual[0])
        # The last measured step is often shorter than the next: it may widen, not narrow, what is beyond.
        widths = Widths(factor, middle, power, float(sds.max()))
        return widths, max(LEARNT_STRETCH[1], _stretch(last, usual[1]))

    def _scored(self, curve: Curve, place: int) -> tuple[float, Floats]:
        """sd of the prediction of a left-out cell; |misses| of its repetitions, in half widths."""
        found = self._predict(curve, curve.x[place : place + 1], place)
        # each repetition, not the level: an interval is for one new measurement
        misses = np.log(curve.cells[place].times) - found.log_time[0]
        scores: Floats = np.abs(misses) / found.half_width(0)
        return float(found.sds[0]), scores

    def _predict(self, curve: Curve, x: Floats, without: int | None = None) -> Prediction:
        """`without`: index of a cell to leave out."""
        degrees = self.noise.degrees + curve.repeat_degrees
        mixed, variance = self.mixed(curve, without), self.noise.of(curve)
        return mixture(mixed, self.log_weights, x, variance, degrees)

    def mixed(self, curve: Curve, without: int | None = None) -> Mixed:
        """The levels of the curve's cells, or of all but one, under every hypothesis and shape."""
        kept = np.array([i for i in range(len(curve.cells)) if i != without])
        x, levels = curve.x[kept], np.log(curve.levels[kept])
        # geometric mean of all cells, also of the one left out: u must mean the same in both predictions
        middle = float(np.exp(np.log(curve.x).mean()))
        noise = self.noise.of(curve) / curve.repeats[kept]  # variance of a mean of repeats
        covariances = self.hypotheses.of_levels(np.log(x), noise)
        return Mixed(self.shapes, self.hypotheses, x, middle, levels, covariances)


def calibrate(curves: Sequence[Curve], shapes: Shapes) -> Calibration:
    """Learn from the file's curves of one axis."""
    noise = _noise(curves)
    every = hypotheses(shapes.deviations, CELL_ERRORS if noise.variance else LONE_ERRORS)
    before = np.log(every.weight)[:, None] + shapes.log_weights[None, :]
    before = before - special.logsumexp(before)
    usable = [curve for curve in curves if len(curve.cells) > 2]  # every law fits two cells
    usable = usable[:: -(-len(usable) // MAX_CURVES) or 1]  # step rounded up: at most MAX_CURVES
    prior = Calibration(shapes, every, before, noise)
    if not usable:
        return prior
    likely = np.stack([prior.mixed(curve).log_likelihood for curve in usable])
    learnt = _learnt(likely, np.exp(before))
    kept = _likeliest(learnt.sum(axis=1))
    scored = [curve for curve in usable if len(curve.cells) >= MIN_SCORED]
    scored = scored[:: -(-len(scored) // MAX_SCORED) or 1]
    weights = np.log(learnt[kept])
    return replace(prior, hypotheses=every[kept], log_weights=weights, curves=tuple(scored))


def _likeliest(weights: Floats) -> np.ndarray:
    """Indices of the heaviest, which hold nearly all of the weight."""
    order = np.argsort(-weights)
    count = int(np.searchsorted(np.cumsum(weights[order]), ENOUGH)) + 1
    return np.sort(order[:count])


def _learnt(log_likelihood: Floats, before: Floats) -> Floats:
    """Weights (H, K) after (curves, H, K) likelihoods: of hypotheses times of shapes, by EM."""
    # Relative to each curve's best pair, or exp() underflows; the factor cancels in the responsibilities.
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=(1, 2), keepdims=True))
    count = len(likelihood)
    of_deviations, of_laws = before.sum(axis=1), before.sum(axis=0)
    first_deviations, first_laws = of_deviations.copy(), of_laws.copy()
    for _ in range(ROUNDS):
        # E step: responsibilities of each curve; M step: their mean, with the prior as pseudo-counts
        by_deviation = (likelihood @ of_laws) * of_deviations
        total = by_deviation.sum(axis=1, keepdims=True)
        by_law = np.einsum("jhk,h->jk", likelihood, of_deviations) * of_laws / total
        of_deviations = PRIOR_CURVES * first_deviations + (by_deviation / total).sum(axis=0)
        of_deviations = of_deviations / (PRIOR_CURVES + count)
        of_laws = PRIOR_CURVES_OF_LAWS * first_laws + by_law.sum(axis=0)
        of_laws = of_laws / (PRIOR_CURVES_OF_LAWS + count)
    result: Floats = of_deviations[:, None] * of_laws[None, :]
    return result


def _noise(curves: Sequence[Curve]) -> Noise:
    """Degrees are many where all curves are equally noisy, few where some are much noisier than others."""
    seen = [
        (c.repeat_squares / c.repeat_degrees, c.repeat_degrees) for c in curves if c.repeat_degrees
    ]
    if not seen:
        return Noise(0.0, 0.0)
    variances, degrees = (np.array(column, dtype=float) for column in zip(*seen, strict=True))
    if len(seen) < FEW_CURVES:
        # A lone curve's noise is its own: it must not count twice.
        prior = PRIOR_DEGREES if len(seen) > 1 else 0.0
        return Noise(float((variances * degrees).sum() / degrees.sum()), prior)
    logs = np.log(np.maximum(variances, LEAST**2))  # equal repeats have no log variance
    # Moments of log variances (Smyth 2004, limma). log s^2 of d degrees has the bias digamma(d/2) - log(d/2)
    # and the variance trigamma(d/2); what varies beyond that is a real difference between curves.
    logs = logs - special.digamma(degrees / 2) + np.log(degrees / 2)
    left = float(np.var(logs, ddof=1) - special.polygamma(1, degrees / 2).mean())
    alike = _degrees(left)
    return Noise(float(np.exp(logs.mean() + special.digamma(alike / 2) - np.log(alike / 2))), alike)


def _degrees(left: float) -> float:
    """The degrees d with trigamma(d / 2) = left, within the range (Smyth 2004)."""
    low, high = DEGREES_RANGE

    def over(degrees: float) -> float:
        return float(special.polygamma(1, degrees / 2)) - left

    if over(high) >= 0 or left <= 0:  # trigamma falls: curves alike within chance have many degrees
        return high
    return low if over(low) <= 0 else float(optimize.brentq(over, low, high))


def _power(log_sds: Floats, scores: Sequence[Floats]) -> float:
    """Power of the sd with which misses grow: least squares in logs, shrunk to POWER. log_sds: centred."""
    logs = np.log([max(float(np.median(one)), LEAST) for one in scores])
    squares = float(log_sds @ log_sds)
    # precisions of the file's own power and of POWER; scores are misses per sd, hence 1 +
    own, before = squares / LOG_NORMAL_VARIANCE, POWER[1] ** -2
    found = (float(log_sds @ logs) / LOG_NORMAL_VARIANCE + own + before * POWER[0]) / (own + before)
    return min(max(found, 0.0), 1.0)


def _stretch(scores: Sequence[Floats], usual: float) -> float:
    """Weighted quantile: each cell counts as one, the usual distribution as PRIOR_CELLS."""
    # half-normal misses whose 90 % quantile is the usual factor, at the middles of equal shares
    steps = (np.arange(PRIOR_STEPS) + 0.5) / PRIOR_STEPS
    normal = usual * stats.norm.ppf(0.5 + steps / 2) / stats.norm.ppf(0.5 + LEVEL / 2)
    each = [np.full(PRIOR_STEPS, PRIOR_CELLS / PRIOR_STEPS)]
    each += [np.full(len(one), 1.0 / len(one)) for one in scores]  # repeats share one cell's error
    values, weights = np.concatenate([normal, *scores]), np.concatenate(each)
    order = np.argsort(values)
    passed = np.cumsum(weights[order]) / weights.sum()
    return float(np.interp(LEVEL, passed, values[order]))
