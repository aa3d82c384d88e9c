"""How a real curve may deviate from every law, and how likely measured levels are under each deviation.

A hypothesis is a Gaussian process round a law (Matern 3/2 over the logarithm of the axis: steps and
bends that no law has), an error of each cell beyond its repeats' (a cell is one build of a cluster), and
whether the first cell is alien: of another regime, as where the data no longer fit into the memory of
few hosts. Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), chapters 2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from analysis.capacity.array import Floats
from analysis.capacity.shapes import Weighted

WIDE = 3.0
"""sd of a curve's level in log: nothing is known of it beforehand."""
LEAST = 1e-3
"""sd of a cell that is as exact as can be."""
ALIEN = 1.0
"""sd by which an alien first cell is off."""
LEAST_CELLS = 4
"""Under these a first cell cannot be told to be alien."""
REACHES = ((1.0, 0.5), (2.5, 0.5))
CELL_ERRORS = ((0.0, 0.25), (0.01, 0.25), (0.025, 0.25), (0.06, 0.17), (0.15, 0.08))
ALIENS = ((0.0, 0.96), (1.0, 0.04))


@dataclass(frozen=True)
class Hypothesis:
    """deviation: sd from a law, in log. reach: of one deviation, in log of the axis. cell_error: sd."""

    deviation: float
    reach: float
    cell_error: float
    alien: bool
    weight: float

    def between(self, one: Floats, other: Floats) -> Floats:
        """Covariance of the curve at places one (k,) and other (m,), in log; its level included."""
        apart = np.sqrt(3.0) * np.abs(one[:, None] - other[None, :]) / self.reach
        result: Floats = self.deviation**2 * (1 + apart) * np.exp(-apart) + WIDE**2
        return result

    def of_levels(self, places: Floats, noise: Floats) -> Floats:
        """Covariance of measured levels (m, m). noise (m,): variance that repeats leave in each."""
        own = noise + self.cell_error**2 + LEAST**2
        if self.alien and len(places) >= LEAST_CELLS:
            own = own + np.where(places == places.min(), ALIEN**2, 0.0)
        result: Floats = self.between(places, places) + np.diag(own)
        return result


def hypotheses(deviations: Weighted) -> tuple[Hypothesis, ...]:
    """All combinations; a deviation of nothing has no reach. deviations: an axis' own (shapes.py)."""
    found = [
        Hypothesis(size, reach, cell, alien > 0, w_size * w_reach * w_cell * w_alien)
        for (size, w_size), (reach, w_reach), (cell, w_cell), (alien, w_alien) in product(
            deviations, REACHES, CELL_ERRORS, ALIENS
        )
        if size > 0 or reach == REACHES[0][0]
    ]
    return tuple(found)
