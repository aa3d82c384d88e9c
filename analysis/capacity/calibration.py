"""How far predictions miss, learnt from cells left out of the fits: blend, spreads, intervals.

A residual bootstrap of the points a fit has seen covers too little, because it does not know the
curve's misfit. Here each cell is predicted without itself, and the spread of those errors is the
spread of the prediction: by curve, shrunk to what all curves of the file show, with Student's t for
the few degrees of freedom, and with the repeats' noise added for a single measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, special, stats

from analysis.capacity.array import Floats
from analysis.capacity.curve import Curve, Weights, repeat_noise

Side = Literal["inside", "above", "below"]
WEIGHTS = np.linspace(0.0, 1.0, 11)
PRIOR_WEIGHT = 0.3
PRIOR_LOSSES = 6.0
PRIOR_DEGREES = 4.0
"""Where few curves tell: the file's spread counts as much as four errors of the curve itself."""
FEW_CURVES = 8
DEGREES_RANGE = (2.5, 60.0)
MEDIAN_VARIANCE = 1.4
"""Variance of a median of a few normal values, over that of one of them, times their number."""
UNKNOWN_SPREAD = {"inside": 0.05, "above": 0.08, "below": 0.30}
"""Log error to expect where no cell could be left out: the p90 seen on public clusters (README)."""
UNKNOWN_DEGREES = 3.0
LEAST_SPREAD = 0.005
SEEN_ALL = {"inside": 0.9, "above": 0.9, "below": 1.0}
"""A fit of all cells errs less than one that lacks another cell besides: measured by simulation."""
FIT_SHARE = 0.5
"""Variance that noise leaves in a fitted curve, over that of one cell's level: cells share it."""
LEAST_OF_LEARNT = 0.3
LEVEL = 0.90


@dataclass(frozen=True)
class Spread:
    """Standard error of log prediction with its degrees of freedom."""

    sigma: float
    degrees: float

    def half_width(self, level: float = LEVEL, extra: float = 0.0) -> float:
        """Half of the interval in log T. extra: sd of one measurement round the curve."""
        sigma = float(np.hypot(self.sigma, extra))
        return float(stats.t.ppf((1 + level) / 2, self.degrees)) * sigma

    def draws(self, dice: np.random.Generator, count: int) -> Floats:
        """Log errors (count,)."""
        return dice.standard_t(self.degrees, count) * self.sigma


@dataclass(frozen=True)
class Calibration:
    """What a family's curves of one file teach each other. `noise`: sd of log time within a cell.
    `repetitions`: of a cell, on average. `alike`: degrees of freedom of the curves' likeness."""

    weights: Weights
    shared: dict[Side, Spread]
    noise: float
    repetitions: float
    alike: float

    def spread(self, curve: Curve, side: Side) -> Spread:
        """Of the level a new cell would show: the curve's left-out errors, shrunk to the file's."""
        shared = self.shared[side]
        own = _errors(curve, self.weights, side)
        own = np.clip(own, -4 * shared.sigma, 4 * shared.sigma) if len(own) > 3 else own
        prior = min(self.alike, shared.degrees)
        total = prior * shared.sigma**2 + float((own**2).sum())
        degrees = prior + len(own)
        return Spread(max(LEAST_SPREAD, float(np.sqrt(total / degrees))), degrees)

    @property
    def repeat_extra(self) -> float:
        """sd that one measurement has beyond a cell's level, whose own noise the spread holds already."""
        return self.noise * float(np.sqrt(max(0.0, 1 - self._cell_share)))

    def of_truth(self, spread: Spread, nearness: float = 0.0) -> Spread:
        """The spread round the true curve: without the noise of the cell it was learnt on.

        nearness: 1 at a measured cell, where only the noise of the fit is left; 0 as far from one as
        the left-out cells were.
        """
        cell = self.noise**2 * self._cell_share
        fit = FIT_SHARE * cell
        misfit = max(0.0, spread.sigma**2 - cell - fit) * (1 - nearness) ** 2
        least = LEAST_OF_LEARNT * spread.sigma
        return Spread(max(float(np.sqrt(fit + misfit)), least), spread.degrees)

    @property
    def _cell_share(self) -> float:
        """Variance of a cell's level over that of a measurement."""
        return 1.0 if self.repetitions < 2 else min(1.0, MEDIAN_VARIANCE / self.repetitions)


def calibrate(curves: Sequence[Curve]) -> Calibration:
    """Blend and spreads of a file's curves of one family."""
    usable = [curve for curve in curves if len(curve.cells) > 2]
    weights = Weights(_weight(usable, "inside"), _weight(usable, "above"))
    noise, _ = repeat_noise(curves)
    sides: tuple[Side, ...] = ("inside", "above", "below")
    shared = {side: _shared(usable, weights, side, noise) for side in sides}
    counts = [len(cell.times) for curve in curves for cell in curve.cells]
    repetitions = float(np.mean(counts)) if counts else 1.0
    return Calibration(weights, shared, noise, repetitions, _alike(usable, weights))


def _alike(curves: Sequence[Curve], weights: Weights) -> float:
    """Prior degrees of freedom, by moments of the curves' log variances (Smyth 2004, limma): many
    where all curves err alike, few where some err much more than others."""
    errors = [_errors(curve, weights, "inside") for curve in curves]
    errors = [one for one in errors if len(one) > 1 and float((one**2).sum()) > 0]
    if len(errors) < FEW_CURVES:
        return PRIOR_DEGREES
    degrees = np.array([len(one) for one in errors], dtype=float)
    logs = np.log([float(np.mean(one**2)) for one in errors])
    logs = logs - special.digamma(degrees / 2) + np.log(degrees / 2)
    left = float(np.var(logs, ddof=1) - special.polygamma(1, degrees / 2).mean())
    low, high = DEGREES_RANGE
    if left <= float(special.polygamma(1, high / 2)):
        return high
    found = optimize.brentq(lambda d: float(special.polygamma(1, d / 2)) - left, 0.1, high)
    return float(np.clip(found, low, high))


def _weight(curves: Sequence[Curve], side: Side) -> float:
    """Least mean absolute error of the cells left out, with a few imagined ones for the prior."""
    if not curves:
        return PRIOR_WEIGHT
    losses = np.stack(
        [np.concatenate([np.abs(_errors(c, Weights(w, w), side)) for c in curves]) for w in WEIGHTS]
    )
    typical = float(np.median(losses)) if losses.size else 1.0
    capped = np.minimum(losses, 5 * typical).sum(axis=1)
    prior = PRIOR_LOSSES * typical * (WEIGHTS - PRIOR_WEIGHT) ** 2
    return float(WEIGHTS[int(np.argmin(capped + prior))])


def _shared(curves: Sequence[Curve], weights: Weights, side: Side, noise: float) -> Spread:
    errors = [_errors(curve, weights, side) for curve in curves]
    every = np.concatenate(errors) if errors else np.zeros(0)
    unknown = max(UNKNOWN_SPREAD[side], noise)
    if not len(every):
        return Spread(unknown, UNKNOWN_DEGREES)
    robust = _robust_scale(every)
    total = UNKNOWN_DEGREES * unknown**2 + len(every) * robust**2
    mixed = float(np.sqrt(total / (UNKNOWN_DEGREES + len(every))))
    return Spread(max(LEAST_SPREAD, mixed), UNKNOWN_DEGREES + len(every))


def _robust_scale(errors: Floats) -> float:
    """The sigma whose normal 90 % interval holds 90 % of the errors; all of them when they are few."""
    if len(errors) < 10:
        return float(np.sqrt(np.mean(errors**2)))
    return float(np.quantile(np.abs(errors), LEVEL) / stats.norm.ppf((1 + LEVEL) / 2))


def _errors(curve: Curve, weights: Weights, side: Side) -> Floats:
    """Left-out log errors of the cells of one side, as a fit of all cells would make them."""
    if len(curve.cells) < 3:
        return np.zeros(0)
    found = curve.left_out(weights)
    part = {"inside": found[1:-1], "above": found[-1:], "below": found[:1]}[side]
    return part * SEEN_ALL[side]
