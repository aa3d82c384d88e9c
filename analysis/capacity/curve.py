"""`Curve`: work time over one axis (hosts, or VMs per host), and what it predicts where nothing was measured.

The prediction blends, in logarithms, the family's formula (scaling.py, density.py) with a monotone
interpolation (PCHIP) of the measured cells. The formula alone is best on noise round the formula, the
interpolation on real clusters, whose curves have steps; the blend's weight is learnt from points left
out of all curves of the file (calibration.py). Beyond the measured range only the formula speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np
from scipy.interpolate import PchipInterpolator

from analysis.capacity.array import Floats

LEAST_POINTS = 2
SLOPE_CELLS = 3


@dataclass(frozen=True)
class Weights:
    """Of the local prediction in the blend, 0 to 1: within the measured range, and above it."""

    inside: float
    above: float

    def at(self, used: Floats, measured: Floats, x: Floats) -> Floats:
        """(B, k): which weight holds at x (k,) for each row of used (B, m)."""
        last = np.where(used > 0, measured, -np.inf).max(axis=1)[:, None]
        return np.where(x > last, self.above, self.inside)


@dataclass(frozen=True)
class Cell:
    """The repetitions at one place of the axis, in order. Its level is their median."""

    x: int
    times: tuple[float, ...]

    @property
    def level(self) -> float:
        return float(np.exp(np.median(np.log(self.times))))


@dataclass(frozen=True)
class Curve:
    """`family` is the module scaling or density: fit(x, times, used), predict(coefficients, x)."""

    family: ModuleType
    cells: tuple[Cell, ...]

    @cached_property
    def x(self) -> Floats:
        return np.array([cell.x for cell in self.cells], dtype=float)

    @cached_property
    def levels(self) -> Floats:
        return np.array([cell.level for cell in self.cells])

    @cached_property
    def coefficients(self) -> Floats:
        """Of the family's formula over all cells, (3,)."""
        found: Floats = self.family.fit(self.x, self.levels, np.ones((1, len(self.x))))[0]
        return found

    def log_predictions(self, x: Floats, weights: Weights) -> Floats:
        """log T at x (k,), from all cells."""
        used = np.ones((1, len(self.x)))
        blended = _blend(self._formula(used, x), self._local(used, x), weights.at(used, self.x, x))
        first: Floats = blended[0]
        return first

    def left_out(self, weights: Weights) -> Floats:
        """log predicted / measured of each cell by a fit that has not seen it (m,)."""
        formula, local = self._left_out_parts
        blended = _blend(formula, local, weights.at(1.0 - np.eye(len(self.x)), self.x, self.x))
        errors: Floats = np.diag(blended) - np.log(self.levels)
        return errors

    @cached_property
    def _left_out_parts(self) -> tuple[Floats, Floats]:
        used = 1.0 - np.eye(len(self.x))
        return self._formula(used, self.x), self._local(used, self.x)

    def _formula(self, used: Floats, x: Floats) -> Floats:
        found = self.family.fit(self.x, self.levels, used)
        result: Floats = np.log(np.maximum(self.family.predict(found, x), 1e-300))
        return result

    def _local(self, used: Floats, x: Floats) -> Floats:
        logs = np.log(self.levels)
        return np.stack([_local(np.log(self.x)[row > 0], logs[row > 0], np.log(x)) for row in used])


def _blend(formula: Floats, local: Floats, weight: Floats) -> Floats:
    known = np.isfinite(local)
    return np.where(known, (1 - weight) * formula + weight * np.where(known, local, 0.0), formula)


def _local(x: Floats, y: Floats, at: Floats) -> Floats:
    """PCHIP within x, the slope of the last cells above it, nan below; nan with a lone cell."""
    found = np.full(at.shape, np.nan)
    if len(x) < LEAST_POINTS:
        return found
    inside, above = (at >= x[0]) & (at <= x[-1]), at > x[-1]
    found[inside] = PchipInterpolator(x, y, extrapolate=False)(at[inside])
    slope = np.polyfit(x[-SLOPE_CELLS:], y[-SLOPE_CELLS:], 1)[0]
    found[above] = y[-1] + slope * (at[above] - x[-1])
    return found


def repeat_noise(curves: Sequence[Curve]) -> tuple[float, int]:
    """(standard deviation of log times within cells, degrees of freedom), pooled.

    Robust: half the squared differences of repetitions, by the mean within and the median over cells,
    would be biased for few repetitions; so the pooled variance is taken after cutting the most extreme
    twentieth of cells.
    """
    variances = [
        (float(np.var(np.log(cell.times), ddof=1)), len(cell.times) - 1)
        for curve in curves
        for cell in curve.cells
        if len(cell.times) > 1
    ]
    if not variances:
        return 0.0, 0
    variances.sort()
    kept = variances[: max(1, len(variances) - len(variances) // 20)]
    degrees = sum(count for _, count in kept)
    return float(np.sqrt(sum(v * count for v, count in kept) / degrees)), degrees
