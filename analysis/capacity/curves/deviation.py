"""Deviations of real curves from the laws, and the likelihood of measured levels under each.

A hypothesis is a Gaussian process around a law (Matern 3/2 over the logarithm of the axis: steps and
bends that no law has), and an error of each cell beyond its repeats' (a cell is one build of a
cluster). Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), chapters 2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.shapes import Weighted, grid

WIDE = 3.0  # prior sd of a curve's level, in log: practically unknown
LEAST = 1e-3  # minimum sd of a cell: without it, equal levels make the covariance singular
OFFSET = 1.0  # sd of the curve's offset below a cliff, in log
MIN_CELLS = 4  # with fewer cells, a cliff cannot be distinguished from a bend
# Pairs below are (value, prior weight). A reach is in log of the axis: factors e and e^2.5.
REACHES = ((1.0, 0.5), (2.5, 0.5))
# sd of a cell with repetitions, whose noise is estimated separately
CELL_ERRORS = ((0.0, 0.25), (0.01, 0.25), (0.025, 0.27), (0.06, 0.17), (0.15, 0.06))
# sd of a cell without repetitions: includes their noise
LONE_ERRORS = ((0.01, 0.08), (0.025, 0.26), (0.06, 0.38), (0.15, 0.28))
# Position of a cliff in the first gap (0: no cliff). The measured cells cannot locate it; on public
# clusters it is more often near the first place.
CLIFFS = ((0.0, 0.905), (0.05, 0.075), (0.95, 0.02))


@dataclass(frozen=True)
class Hypotheses:
    """Hypotheses about how measured cells deviate from a law, one per row; each array has the shape (H,).

    deviation: standard deviation of the curve from the law, of logarithms.
    reach: distance along the axis, in its logarithm, over which a deviation changes.
    cell_error: standard deviation of a cell's mean, of logarithms.
    cliff: how far into the first gap between measured places a resource no longer suffices, as a share of
    that gap; 0: nowhere.
    """

    deviation: Floats
    reach: Floats
    cell_error: Floats
    cliff: Floats
    weight: Floats

    def __getitem__(self, places: np.ndarray) -> Hypotheses:
        return Hypotheses(*(getattr(self, one.name)[places] for one in fields(self)))

    def edges(self, cells: Floats) -> Floats:
        """Places of the cliffs (H,), in log; cells (m,): the measured places, ascending."""
        if len(cells) < MIN_CELLS:
            return np.full(len(self.cliff), -np.inf)
        found = cells[0] + self.cliff * (cells[1] - cells[0])
        return np.where(self.cliff > 0, found, -np.inf)

    def between(self, one: Floats, other: Floats, edges: Floats) -> Floats:
        """Covariances (H, k, m) of log times at one (k,) and other (m,), including the curve's level."""
        # Matern 3/2: s^2 (1 + sqrt(3) d / r) exp(-sqrt(3) d / r) (Rasmussen and Williams 2006, eq. 4.17).
        # Its paths are differentiable once; a squared exponential would be smoother than clusters are.
        apart = np.sqrt(3.0) * np.abs(one[:, None] - other[None, :]) / self.reach[:, None, None]
        matern = self.deviation[:, None, None] ** 2 * (1 + apart) * np.exp(-apart)
        # places below the cliff share one offset of unknown size
        low, lower = one < edges[:, None], other < edges[:, None]
        result: Floats = matern + WIDE**2 + OFFSET**2 * (low[:, :, None] & lower[:, None, :])
        return result

    def of_levels(self, cells: Floats, noise: Floats) -> Floats:
        """Covariances of measured levels (H, m, m). noise (m,): variance of each level from its repeats."""
        own = noise + self.cell_error[:, None] ** 2 + LEAST**2
        every = self.between(cells, cells, self.edges(cells))
        return every + own[:, :, None] * np.eye(len(cells))  # builds err independently


def hypotheses(deviations: Weighted, cell_errors: Weighted) -> Hypotheses:
    """All combinations of the given values with `REACHES` and `CLIFFS`. deviations: those to try on the
    curve's axis (shapes.py)."""
    # a deviation of 0 has no reach: one row of it, or it would count once per reach
    rows = [
        (*values, weight)
        for values, weight in grid(deviations, REACHES, cell_errors, CLIFFS)
        if values[0] > 0 or values[1] == REACHES[0][0]
    ]
    return Hypotheses(*np.array(rows).T)
