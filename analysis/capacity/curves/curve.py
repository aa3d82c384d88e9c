"""`Curve`: measured work time over one axis (hosts, or VMs per host), cell by cell.

calibration.py predicts unmeasured places; the coefficients here are for display.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from density_study.analysis.capacity import Floats

# A repeat farther from the level has no weight; on normal noise the efficiency is 95 %
# (J. Tukey's bisquare, in P. Huber and E. Ronchetti, Robust Statistics, 2009).
BISQUARE_SCALES = 4.685
ROUNDS = 5  # of reweighting
# Deviations of repeats are clipped at this many scales: an outlier carries no information on the noise.
SQUARES_SCALES = 2.5
MIN_REPEATS = 3  # with fewer repeats an outlier cannot be identified, so the level is the mean
MIN_CLIFF = 1.15  # factor by which a step must be steeper than 1/n
# A number at another place needs so many places, for every law fits three, and on each side one within NEAR.
PLACES = 4
NEAR = 2.0
CLIFF_SCALES = 3.0  # standard errors of a step: a curve has several steps, and 2 would alarm often


@dataclass(frozen=True)
class Cell:
    """The repetitions at one place of the axis, in order."""

    x: int
    times: tuple[float, ...]


@dataclass(frozen=True)
class Cliff:
    """A step between neighbouring cells over which work time falls more than the hosts grow. factor: by
    how much it falls."""

    below: int
    above: int
    factor: float

    def __str__(self) -> str:
        return (
            f"from {self.below} to {self.above} hosts, work time falls by a factor of {self.factor:.1f}, "
            f"more than the number of hosts grows: a resource, often memory, may be exhausted below "
            f"{self.above} hosts; measure between them, or use at least that many"
        )


@dataclass(frozen=True)
class Curve:
    """`family` is the module scaling or density: fit(x, times), predict(coefficients, x)."""

    family: ModuleType
    cells: tuple[Cell, ...]

    @cached_property
    def x(self) -> Floats:
        return np.array([cell.x for cell in self.cells], dtype=float)

    @cached_property
    def repeats(self) -> Floats:
        return np.array([len(cell.times) for cell in self.cells], dtype=float)

    @cached_property
    def levels(self) -> Floats:
        """Work time of each cell (m,): a robust mean of the logarithms."""
        # A median of three repeats has a third more variance, a plain mean follows one wild repeat.
        found = [_location(logs, self._scale) for logs in self._logs]
        result: Floats = np.exp(np.array(found))
        return result

    @cached_property
    def repeat_degrees(self) -> int:
        """Degrees of freedom that the repetitions leave to the noise."""
        return int((self.repeats - 1).sum())

    @cached_property
    def repeat_squares(self) -> float:
        """Sum of squares of repeats' log times around their cells' levels, outliers clipped."""
        most = SQUARES_SCALES * self._scale if self._scale else np.inf
        misses = [np.log(self.levels[i]) - logs for i, logs in enumerate(self._logs)]
        return float((np.clip(np.concatenate(misses), -most, most) ** 2).sum())

    def is_near(self, x: float) -> bool:
        """Whether x was measured, or the measured places are enough and near enough for a number at x."""
        below, above = self.x[self.x <= x], self.x[self.x >= x]
        near = len(below) > 0 and x <= NEAR * below[-1] and (not len(above) or above[0] <= NEAR * x)
        return x in self.x or bool(near and len(self.x) >= PLACES)

    def cliffs(self, variance: float) -> tuple[Cliff, ...]:
        """Cliffs of a curve over hosts. variance: that of a repeat's log time."""
        gain, grown = -np.diff(np.log(self.levels)), np.diff(np.log(self.x))
        # standard error of the difference of two neighbouring levels
        noise = np.sqrt(variance * (1 / self.repeats[1:] + 1 / self.repeats[:-1]))
        steep = gain - grown > np.maximum(np.log(MIN_CLIFF), CLIFF_SCALES * noise)
        return tuple(
            Cliff(self.cells[i].x, self.cells[i + 1].x, float(np.exp(gain[i])))
            for i in np.flatnonzero(steep)
        )

    @cached_property
    def coefficients(self) -> Floats:
        """Coefficients of the family's formula over all cells, (3,)."""
        result: Floats = self.family.fit(self.x, self.levels)
        return result

    @cached_property
    def _logs(self) -> list[Floats]:
        return [np.log(cell.times) for cell in self.cells]

    @cached_property
    def _scale(self) -> float:
        """Robust sd of a repeat over all cells, or 0."""
        # sqrt(n / (n - 1)): deviations from a centre of the same few repeats are too small
        misses = [
            np.abs(logs - np.median(logs)) * (len(logs) / (len(logs) - 1)) ** 0.5
            for logs in self._logs
            if len(logs) > 1
        ]
        every = np.concatenate(misses) if misses else np.zeros(0)
        every = every[every > 0]  # in a cell with an odd number, one repeat is the median itself
        # the median absolute deviation of normal noise is sd / 1.4826 (Rousseeuw and Croux 1993)
        return 1.4826 * float(np.median(every)) if len(every) else 0.0


def _location(logs: Floats, scale: float) -> float:
    """Tukey's biweight location, by iteration from the median (Mosteller and Tukey 1977)."""
    centre = float(np.median(logs))
    if len(logs) < MIN_REPEATS or scale == 0:
        return float(logs.mean())
    for _ in range(ROUNDS):
        apart = np.abs(logs - centre) / (BISQUARE_SCALES * scale)
        weights = np.clip(1.0 - apart**2, 0.0, None) ** 2  # bisquare: (1 - u^2)^2 within u < 1
        if weights.sum() == 0:  # repeats in two distant groups: the median lies in neither
            return centre
        centre = float((weights * logs).sum() / weights.sum())
    return centre
