"""Density: X(v) = g*v / (1 + alpha*(v-1) + beta*v*(v-1)) at constant host hardware.

The Universal Scalability Law (N. Gunther, Guerrilla Capacity Planning, 2007) in VMs per host. Inverted,
it is linear: T(v)*v = c0 + c1*(v-1) + c2*v*(v-1) with T = 1/X, g = 1/c0, alpha = c1/c0,
beta = c2/c0. The bare host, v = 0, is not part of the law.
"""

from __future__ import annotations

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.shapes import (
    OVERLOAD,
    POWER,
    UNIVERSAL,
    evenly,
    grid,
    shapes,
    shares,
)

DENSITIES_FOR_BETA = 4  # three densities fit c0, c1 and c2 exactly, noise included
# Shapes over VMs per host: on constant hardware throughput rises, stays or falls, or has an optimum.
SHAPES = shapes(
    [
        (UNIVERSAL, 0.4, shares(
            evenly(0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
            [(0, 3.0), (0.02, 1), (0.05, 1), (0.1, 1), (0.15, 1), (0.2, 1), (0.3, 1), (0.4, 1), (0.5, 1),
             (0.65, 0.5), (0.8, 0.5)])),
        (POWER, 0.35, grid(
            [(-0.8, 0.3), (-0.6, 0.5), (-0.4, 0.7), (-0.3, 1), (-0.2, 1), (-0.1, 1), (0, 1), (0.1, 1),
             (0.2, 1), (0.3, 1), (0.4, 1), (0.6, 1), (0.8, 1), (1, 0.5)],
            [(-0.2, 0.2), (-0.1, 0.5), (0, 1), (0.1, 1), (0.2, 1), (0.3, 1), (0.45, 0.5), (0.6, 0.3)])),
        (OVERLOAD, 0.25, grid(
            evenly(0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0),
            evenly(0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8), evenly(1, 2))),
    ],
    deviations=[(0, 0.25), (0.01, 0.25), (0.03, 0.25), (0.08, 0.16), (0.2, 0.07), (0.5, 0.02)],
)  # fmt: skip


def basis(densities: Floats) -> Floats:
    """Columns 1/v, (v-1)/v, v-1 of shape (m, 3): T = basis @ (c0, c1, c2)."""
    v = densities
    return np.stack([1.0 / v, (v - 1.0) / v, v - 1.0], axis=1)


def fit(densities: Floats, times: Floats) -> Floats:
    """c0, c1, c2 of the times (m,) at distinct densities (m,), by relative least squares, c2 >= 0."""
    matrix = basis(densities) / times[:, None]  # relative misses: noise grows with T
    found = np.linalg.lstsq(matrix, np.ones(len(times)), rcond=None)[0]
    # beta < 0 would give a pole, not a law. c1 stays free: alpha < 0 is real (superlinear).
    if len(times) < DENSITIES_FOR_BETA or found[2] < 0:
        found = np.linalg.lstsq(matrix[:, :2], np.ones(len(times)), rcond=None)[0]
    return np.pad(found, (0, 3 - len(found)))


def predict(coefficients: Floats, densities: Floats) -> Floats:
    """T (k,) at densities (k,); values below zero are replaced by a thousandth of the start."""
    floor = 1e-3 * abs(coefficients[0])  # with a negative c1 the line may cross zero
    result: Floats = np.maximum(basis(densities) @ coefficients, floor)
    return result


def law(coefficients: Floats) -> tuple[float, float, float]:
    """(g, alpha, beta) of one fit (3,). g is a rate: units per second at one VM per host."""
    c0, c1, c2 = (float(one) for one in coefficients)
    return 1.0 / c0, c1 / c0, c2 / c0
