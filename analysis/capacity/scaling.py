"""Scaling with hosts: T(n) = a + b/n + c*n, coefficients not negative.

Relative least squares: every residual is divided by the measured T, because a repeat's noise grows
with T. Huber weights keep one outlying count from bending the curve. c is dropped under 5
counts: with 4 it follows the noise, and extrapolates it (p90 of the next count up 28 % against 19 %).
Many fits at once: with 3 columns the non-negative optimum lies on one of 7 faces, so all are solved
and the best feasible one is taken; scipy.optimize.nnls is the oracle in the tests.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from analysis.capacity.array import Floats
from analysis.capacity.shapes import shapes

COUNTS_FOR_LINEAR_TERM = 5
HUBER_SCALES = 1.5
HUBER_ROUNDS = 4
LEAST_SCALE = 0.01
"""Residuals under 1 % never count as outlying, however small the others are."""
SHAPES = shapes(
    constant=[(0, 0.1), (0.01, 0.1), (0.02, 0.1), (0.04, 0.1), (0.07, 0.1), (0.1, 0.1), (0.15, 0.1),
              (0.2, 0.1), (0.3, 0.08), (0.4, 0.05), (0.5, 0.03), (0.6, 0.02), (0.75, 0.01), (0.9, 0.01)],
    growing=[(0, 0.5), (0.01, 0.12), (0.02, 0.1), (0.04, 0.08), (0.07, 0.06), (0.1, 0.05), (0.15, 0.04),
             (0.2, 0.03), (0.3, 0.015), (0.45, 0.005)],
    slope=[(0, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.5), (0.4, 0.6), (0.5, 0.8), (0.55, 0.8), (0.6, 1),
           (0.65, 1), (0.7, 1), (0.75, 1), (0.8, 1), (0.85, 1), (0.9, 1), (0.95, 1), (1, 1), (1.05, 0.3),
           (1.1, 0.2), (1.2, 0.1)],
    bend=[(-0.15, 0.02), (-0.1, 0.04), (-0.05, 0.15), (0, 0.5), (0.05, 0.15), (0.1, 0.1), (0.2, 0.04)],
    edge=(0.5, 0.7, 1.0, 1.4, 2.0, 2.8),
    laws=(0.5, 0.45, 0.05, 0.0),
)  # fmt: skip
"""Over hosts. Most of what is run on clusters scales nearly linearly, and little gets slower with hosts."""
_FACES = [face for size in (1, 2, 3) for face in combinations(range(3), size)]


def basis(hosts: Floats) -> Floats:
    """Columns 1, 1/n, n of shape (m, 3)."""
    return np.stack([np.ones_like(hosts), 1.0 / hosts, hosts], axis=1)


def fit(hosts: Floats, times: Floats, used: Floats) -> Floats:
    """Coefficients (B, 3) of a, b, c for B fits at once.

    hosts (m,): distinct counts. times (m,): seconds, or any positive measure of work time. used (B, m):
    1 where a fit may see the count, 0 where it is held out.
    """
    matrix = basis(hosts) / times[:, None]
    allowed = used.sum(axis=1) >= COUNTS_FOR_LINEAR_TERM
    weights = used.copy()
    for _ in range(HUBER_ROUNDS):
        found = _non_negative(matrix, weights, allowed)
        weights = used * _huber(1.0 - found @ matrix.T, used)
    return _non_negative(matrix, weights, allowed)


def predict(coefficients: Floats, hosts: Floats) -> Floats:
    """T (B, k) at hosts (k,)."""
    return coefficients @ basis(hosts).T


def _huber(residuals: Floats, used: Floats) -> Floats:
    sizes = np.abs(residuals)
    ranked = np.sort(np.where(used > 0, sizes, np.inf), axis=1)
    middle = (used.sum(axis=1).astype(int) - 1) // 2
    median = np.take_along_axis(ranked, middle[:, None], axis=1)
    scale = np.maximum(1.4826 * median, LEAST_SCALE)
    return np.minimum(1.0, HUBER_SCALES * scale / np.maximum(sizes, 1e-12))


def _non_negative(matrix: Floats, weights: Floats, allowed: np.ndarray) -> Floats:
    """argmin of sum w (1 - matrix x)^2 over x >= 0, for every row of weights."""
    scale = np.abs(matrix).max(axis=0)
    scaled = matrix / scale
    gram = np.einsum("bm,mi,mj->bij", weights, scaled, scaled)
    moment = np.einsum("bm,mi->bi", weights, scaled)
    best = np.zeros((len(weights), 3))
    lowest = np.full(len(weights), np.inf)
    for face in _FACES:
        found = _solved(gram, moment, face)
        # The sum of squares without its constant: x'Gx - 2m'x.
        loss = np.einsum("bi,bij,bj->b", found, gram, found) - 2 * (moment * found).sum(axis=1)
        feasible = (found >= 0).all(axis=1) & (allowed | (2 not in face))
        better = feasible & (loss < lowest - 1e-12)
        best[better], lowest[better] = found[better], loss[better]
    result: Floats = best / scale
    return result


def _solved(gram: Floats, moment: Floats, face: tuple[int, ...]) -> Floats:
    """The unconstrained optimum on a face; the other coefficients are 0."""
    index = np.ix_(range(len(gram)), face, face)
    ridge = 1e-10 * np.eye(len(face))
    part = np.linalg.solve(gram[index] + ridge, moment[:, list(face)][..., None])[..., 0]
    found = np.zeros_like(moment)
    found[:, list(face)] = part
    return found
