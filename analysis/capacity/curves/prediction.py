"""`Prediction` of log work time at any place of a curve: a mixture of Gaussian processes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize, special

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.deviation import Hypotheses
from density_study.analysis.capacity.curves.shapes import Shapes

LEVEL = 0.90  # what an interval holds
# Half width up to which points support a number. Nine of ten errors are to be within 15 % (accuracy/goals.py)
# and nine of ten measurements are within an honest interval: a wider one contradicts the goal.
SUPPORTED = 0.15
NEGLIGIBLE = 5e-4  # hypotheses with less weight are omitted from a prediction
# Without repeats, the noise is part of the hypotheses, and their mixture provides the tails.
NORMAL_DEGREES = 30.0
MIN_DEGREES = 4.0  # with 2 or fewer, Student's t has no variance
WIDEST = 100.0  # search range of quantiles, in scales from the middle


@dataclass(frozen=True)
class Prediction:
    """A mixture of normal distributions of log work time at k places, one a hypothesis.

    shares (h,) add to 1; means (h, k) and covariances (h, k, k) are of the true curve. Variances beyond
    it: cells (h,), of the level that one build shows; repeat, of one measurement. degrees: of Student's
    t in each, for the noise is estimated. stretch (k,): factor of all widths, from calibration.
    """

    shares: Floats
    means: Floats
    covariances: Floats
    cells: Floats
    repeat: float
    degrees: float
    stretch: Floats

    @cached_property
    def log_time(self) -> Floats:
        """Mean of the mixture (k,)."""
        return self.shares @ self.means

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the mixture of all hypotheses (k, k)."""
        # Hypotheses that disagree widen the interval, even if each is sure of itself:
        # law of total variance: mean of the covariances, and covariance of the means
        apart = self.means - self.log_time
        own = np.einsum("h,hij->ij", self.shares, self.covariances)
        result: Floats = own + (apart * self.shares[:, None]).T @ apart
        return result

    @cached_property
    def sds(self) -> Floats:
        """sd of one new measurement's log time (k,), before it is stretched."""
        result: Floats = np.sqrt(np.diag(self.covariance) + self.shares @ self.cells + self.repeat)
        return result

    def moved(self, by: Floats | float, covariance: Floats | float = 0.0) -> Prediction:
        """The prediction with `by` (k,) added to the log times, and `covariance` (k, k) to theirs."""
        return replace(self, means=self.means + by, covariances=self.covariances + covariance)

    def half_width(self, place: int) -> float:
        """Half width, in log T, of the 90 % interval for one new measurement."""
        variances = self.covariances[:, place, place] + self.cells + self.repeat
        scales = np.sqrt(variances)
        off = self.means[:, place] - self.log_time[place]

        # A mixture has no quantile function: solve for the half width that leaves 1 - LEVEL outside.
        def outside(half: float) -> float:
            above = special.stdtr(self.degrees, (off - half) / scales)
            below = special.stdtr(self.degrees, (-off - half) / scales)
            return float(self.shares @ (above + below)) - (1 - LEVEL)

        farthest = float((np.abs(off) + WIDEST * scales).max())
        return float(self.stretch[place] * optimize.brentq(outside, 0.0, farthest, xtol=1e-5))

    def draws(self, rng: np.random.Generator, count: int) -> Floats:
        """True work times (count, k), one curve per draw."""
        # eigenvalues instead of Cholesky: places close together make the covariance singular
        values, vectors = np.linalg.eigh(self.covariances)
        roots = vectors * np.sqrt(np.clip(values, 0.0, None))[:, None, :]
        which = rng.choice(len(self.shares), size=count, p=self.shares)
        # Multivariate t: a normal over the root of chi-squared / degrees. One scale and one hypothesis per
        # draw: an error of the curve is an error at all of its places.
        scale = np.sqrt(self.degrees / rng.chisquare(self.degrees, count))
        normal = rng.standard_normal((count, len(self.log_time))) * scale[:, None]
        errors = np.einsum("dij,dj->di", roots[which], normal) + self.means[which] - self.log_time
        errors = np.clip(errors * self.stretch, -3.0, 3.0)  # at most a factor of 20
        times: Floats = np.exp(self.log_time[None, :] + errors)
        return times


@dataclass(frozen=True)
class Mixed:
    """Levels (m,), in log, of cells at x (m,), under every hypothesis: covariances (H, m, m)."""

    shapes: Shapes
    hypotheses: Hypotheses
    x: Floats
    middle: float
    levels: Floats
    covariances: Floats

    def at(self, x: Floats) -> Floats:
        """log T of every shape at x (K, k), less its mean over the cells."""
        # a shape has no level of its own: it is shifted to the cells' mean
        cells = self.shapes.log_times(self.x / self.middle).mean(axis=1, keepdims=True)
        result: Floats = self.shapes.log_times(x / self.middle) - cells
        return result

    @cached_property
    def of_shapes(self) -> Floats:
        return self.at(self.x)

    def weights(self, log_weights: Floats) -> Floats:
        """Weights of every hypothesis and shape (H, K) after the levels; log_weights (H, K): before."""
        found = self.log_likelihood + log_weights
        result: Floats = np.exp(found - special.logsumexp(found))
        return result

    @cached_property
    def log_likelihood(self) -> Floats:
        """Log likelihood of the levels under every hypothesis and shape (H, K), up to one constant."""
        # log p = -1/2 y' K^-1 y - 1/2 log |K|, K = L L' (Rasmussen and Williams 2006, chapter 2)
        root = np.linalg.cholesky(self.covariances)  # (H, m, m); log |K| = 2 sum log diag L
        misses = (self.levels - self.levels.mean())[:, None] - self.of_shapes.T
        white = np.linalg.inv(root) @ misses
        size = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        result: Floats = -0.5 * (white**2).sum(axis=1) - size[:, None]
        return result


def mixture(
    mixed: Mixed, log_weights: Floats, x: Floats, repeat: float, degrees: float
) -> Prediction:
    """The mixture at x (k,). log_weights (H, K): before the curve's data."""
    weights = mixed.weights(log_weights)
    of_hypotheses = weights.sum(axis=1)
    kept = np.flatnonzero(of_hypotheses > NEGLIGIBLE)
    found = mixed.at(x)
    # Shapes are merged by moments within a hypothesis, whose covariance they share: h parts, not h * K.
    within = weights[kept] / of_hypotheses[kept][:, None]
    shares = of_hypotheses[kept] / of_hypotheses[kept].sum()
    means, own = _parts(mixed, kept, within, found, x)
    return Prediction(
        shares=shares,
        means=means + mixed.levels.mean(),
        covariances=own,
        cells=mixed.hypotheses.cell_error[kept] ** 2,
        repeat=repeat,
        degrees=max(degrees, MIN_DEGREES) if degrees else NORMAL_DEGREES,
        stretch=np.ones(len(x)),
    )


def _parts(
    mixed: Mixed, kept: np.ndarray, weights: Floats, found: Floats, x: Floats
) -> tuple[Floats, Floats]:
    """Means (h, k) and covariances (h, k, k) at x under the kept hypotheses, each over shapes of
    weights (h, K). found (K, k): log T of the shapes at x."""
    log_x, log_cells = np.log(x), np.log(mixed.x)
    those = mixed.hypotheses[kept]
    edges = those.edges(log_cells)
    # mean k' K^-1 y, covariance k(x, x') - k' K^-1 k (Rasmussen and Williams 2006, chapter 2)
    across = those.between(log_cells, log_x, edges)
    gain = np.linalg.solve(mixed.covariances[kept], across)  # (h, m, k)
    own = those.between(log_x, log_x, edges)
    own = own - np.swapaxes(across, 1, 2) @ gain
    levels = mixed.levels - mixed.levels.mean()
    # the shape, plus the gain times what the levels are off the shape
    each = found - mixed.of_shapes @ gain + (levels @ gain)[:, None, :]  # (h, K, k)
    means = np.einsum("hs,hsk->hk", weights, each)
    apart = (each - means[:, None, :]) * np.sqrt(weights)[:, :, None]
    return means, own + np.swapaxes(apart, 1, 2) @ apart  # law of total variance again
