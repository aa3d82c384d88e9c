"""`Curve`: measured work time over one axis (hosts, or VMs per host), cell by cell.

What it says where nothing was measured is calibration.py's; the coefficients here are for reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from analysis.capacity.array import Floats

HUBER_SCALES = 1.8
HUBER_ROUNDS = 5
SQUARES_SCALES = 2.5
"""Deviations of repeats count up to so many scales: an outlier says nothing of the noise."""
LEAST_REPEATS = 3
"""Under these nobody can say which repeat is the outlier: the mean is the level."""


@dataclass(frozen=True)
class Cell:
    """The repetitions at one place of the axis, in order."""

    x: int
    times: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """`family` is the module scaling or density: fit(x, times, used), predict(coefficients, x)."""

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
        """Work time of each cell (m,): Huber's mean of the logarithms. A median of three repeats has a
        third more variance, a mean is one outlier's."""
        found = [_location(logs, self._scale) for logs in self._logs]
        levels: Floats = np.exp(np.array(found))
        return levels

    @cached_property
    def repeat_degrees(self) -> int:
        """Degrees of freedom that the repetitions leave to the noise."""
        return int((self.repeats - 1).sum())

    @cached_property
    def repeat_squares(self) -> float:
        """Sum of squares of repeats' log times round their cells' levels, outliers cut."""
        most = SQUARES_SCALES * self._scale if self._scale else np.inf
        misses = [np.log(self.levels[i]) - logs for i, logs in enumerate(self._logs)]
        return float((np.clip(np.concatenate(misses), -most, most) ** 2).sum())

    @cached_property
    def coefficients(self) -> Floats:
        """Of the family's formula over all cells, (3,)."""
        found: Floats = self.family.fit(self.x, self.levels, np.ones((1, len(self.x))))[0]
        return found

    @cached_property
    def _logs(self) -> list[Floats]:
        return [np.log(cell.times) for cell in self.cells]

    @cached_property
    def _scale(self) -> float:
        """Robust sd of a repeat, from all cells; 0 without repetitions, or if they are equal."""
        misses = [
            np.abs(logs - np.median(logs)) * (len(logs) / (len(logs) - 1)) ** 0.5
            for logs in self._logs
            if len(logs) > 1
        ]
        every = np.concatenate(misses) if misses else np.zeros(0)
        every = every[every > 0]  # of an odd number one is its own median
        return 1.4826 * float(np.median(every)) if len(every) else 0.0


def _location(logs: Floats, scale: float) -> float:
    centre = float(np.median(logs))
    if len(logs) < LEAST_REPEATS or scale == 0:
        return float(logs.mean())
    for _ in range(HUBER_ROUNDS):
        apart = np.maximum(np.abs(logs - centre), 1e-12)
        weights = np.minimum(1.0, HUBER_SCALES * scale / apart)
        centre = float((weights * logs).sum() / weights.sum())
    return centre
