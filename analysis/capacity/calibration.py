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
from scipy import stats

from analysis.capacity.array import Floats
from analysis.capacity.curve import Curve, Weights, repeat_noise

Side = Literal["inside", "above", "below"]
WEIGHTS = np.linspace(0.0, 1.0, 11)
PRIOR_WEIGHT = 0.3
PRIOR_LOSSES = 6.0
PRIOR_DEGREES = 4.0
"""The file's spread counts as much as four errors of the curve itself."""
UNKNOWN_SPREAD = {"inside": 0.05, "above": 0.08, "below": 0.30}
"""Log error to expect where no cell could be left out: the p90 seen on public clusters (README)."""
UNKNOWN_DEGREES = 3.0
LEAST_SPREAD = 0.005
SEEN_ALL = {"inside": 0.9, "above": 0.8, "below": 1.0}
"""A fit of all cells errs less than one that lacks another cell besides: measured by simulation."""
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
    """What a family's curves of one file teach each other. `noise`: sd of log time within a cell."""

    weights: Weights
    shared: dict[Side, Spread]
    noise: float

    def spread(self, curve: Curve, side: Side) -> Spread:
        """The curve's own left-out errors, shrunk to the file's."""
        shared = self.shared[side]
        own = _errors(curve, self.weights, side)
        own = np.clip(own, -4 * shared.sigma, 4 * shared.sigma) if len(own) > 3 else own
        prior = min(PRIOR_DEGREES, shared.degrees)
        total = prior * shared.sigma**2 + float((own**2).sum())
        degrees = prior + len(own)
        return Spread(max(LEAST_SPREAD, float(np.sqrt(total / degrees))), degrees)


def calibrate(curves: Sequence[Curve]) -> Calibration:
    """Blend and spreads of a file's curves of one family."""
    usable = [curve for curve in curves if len(curve.cells) > 2]
    weights = Weights(_weight(usable, "inside"), _weight(usable, "above"))
    noise, _ = repeat_noise(curves)
    sides: tuple[Side, ...] = ("inside", "above", "below")
    shared = {side: _shared(usable, weights, side, noise) for side in sides}
    return Calibration(weights, shared, noise)


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
