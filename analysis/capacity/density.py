"""Density: X(v) = g*v / (1 + alpha*(v-1) + beta*v*(v-1)) at constant host hardware.

The Universal Scalability Law (Gunther) in VMs per host. Turned over it is linear: T(v)*v = c0 +
c1*(v-1) + c2*v*(v-1) with T = 1/X, g = 1/c0, alpha = c1/c0, beta = c2/c0. beta >= 0, and 0 under four
densities; alpha < 0 (superlinear) is allowed. The bare host, v = 0, is an arm of its own: the law has
no place for it.
"""

from __future__ import annotations

import numpy as np

from analysis.capacity.array import Floats
from analysis.capacity.shapes import shapes

DENSITIES_FOR_BETA = 4
SHAPES = shapes(
    constant=[(share, 1.0) for share in (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)],
    growing=[(0, 3.0), (0.02, 1), (0.05, 1), (0.1, 1), (0.15, 1), (0.2, 1), (0.3, 1), (0.4, 1), (0.5, 1),
             (0.65, 0.5), (0.8, 0.5)],
    slope=[(-0.8, 0.3), (-0.6, 0.5), (-0.4, 0.7), (-0.3, 1), (-0.2, 1), (-0.1, 1), (0, 1), (0.1, 1),
           (0.2, 1), (0.3, 1), (0.4, 1), (0.6, 1), (0.8, 1), (1, 0.5)],
    bend=[(-0.2, 0.2), (-0.1, 0.5), (0, 1), (0.1, 1), (0.2, 1), (0.3, 1), (0.45, 0.5), (0.6, 0.3)],
    overload=[(p, q, k) for p in (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
              for q in (0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8) for k in (1, 2)],
    laws=(0.4, 0.35, 0.0, 0.25),
    deviations=[(0, 0.25), (0.01, 0.25), (0.03, 0.25), (0.08, 0.16), (0.2, 0.07), (0.5, 0.02)],
)  # fmt: skip
"""Over VMs per host: what constant hardware gives rises, stays or falls, and may have an optimum."""


def basis(densities: Floats) -> Floats:
    """Columns 1/v, (v-1)/v, v-1 of shape (m, 3): T = basis @ (c0, c1, c2)."""
    v = densities
    return np.stack([1.0 / v, (v - 1.0) / v, v - 1.0], axis=1)


def fit(densities: Floats, times: Floats, used: Floats) -> Floats:
    """(c0, c1, c2) of shape (B, 3), by relative least squares with c2 >= 0; shapes as scaling.fit."""
    matrix = basis(densities) / times[:, None]
    allowed = used.sum(axis=1) >= DENSITIES_FOR_BETA
    with_beta = _least_squares(matrix, used, 3)
    without = _least_squares(matrix, used, 2)
    keep = allowed & (with_beta[:, 2] >= 0)
    return np.where(keep[:, None], with_beta, without)


def predict(coefficients: Floats, densities: Floats) -> Floats:
    """T (B, k) at densities (k,); a curve bent below nothing is held at a thousandth of its start."""
    floor = 1e-3 * np.abs(coefficients[:, :1])
    result: Floats = np.maximum(coefficients @ basis(densities).T, floor)
    return result


def law(coefficients: Floats) -> tuple[float, float, float]:
    """(g, alpha, beta) of one fit (3,). g is a rate: things a second of one VM per host."""
    c0, c1, c2 = (float(one) for one in coefficients)
    return 1.0 / c0, c1 / c0, c2 / c0


def _least_squares(matrix: Floats, used: Floats, columns: int) -> Floats:
    part = matrix[:, :columns]
    gram = np.einsum("bm,mi,mj->bij", used, part, part)
    # Rows with too few cells for all columns are not used, but they must be solvable.
    gram += 1e-10 * np.abs(gram).max(axis=(1, 2), keepdims=True) * np.eye(columns)
    moment = np.einsum("bm,mi->bi", used, part)
    found = np.zeros((len(used), 3))
    found[:, :columns] = np.linalg.solve(gram, moment[..., None])[..., 0]
    return found
