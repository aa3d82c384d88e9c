"""Scaling with hosts: T(n) = a + b/n + c*n, coefficients not negative.

Amdahl's law (AFIPS 1967) with a cost c of each further host, as in Ernest (S. Venkataraman et al.,
NSDI 2016). The formula is for display: predictions weigh SHAPES (calibration.py).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.shapes import (
    PLATEAU,
    POWER,
    UNIVERSAL,
    evenly,
    grid,
    shapes,
    shares,
)

# With 4 counts c follows the noise, and extrapolates it (p90 of the next count up 28 % against 19 %).
COUNTS_FOR_LINEAR_TERM = 5
HUBER_SCALES = 1.5
HUBER_ROUNDS = 4
MIN_SCALE = 0.01  # smaller scales would call residuals of a percent outlying
# Most of what runs on clusters scales nearly linearly, and little gets slower with hosts.
SHAPES = shapes(
    [
        (UNIVERSAL, 0.5, shares(
            [(0, 0.1), (0.01, 0.1), (0.02, 0.1), (0.04, 0.1), (0.07, 0.1), (0.1, 0.1), (0.15, 0.1),
             (0.2, 0.1), (0.3, 0.08), (0.4, 0.05), (0.5, 0.03), (0.6, 0.02), (0.75, 0.01), (0.9, 0.01)],
            [(0, 0.5), (0.01, 0.12), (0.02, 0.1), (0.04, 0.08), (0.07, 0.06), (0.1, 0.05), (0.15, 0.04),
             (0.2, 0.03), (0.3, 0.015), (0.45, 0.005)])),
        (POWER, 0.45, grid(
            [(0, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.5), (0.4, 0.6), (0.5, 0.8), (0.55, 0.8), (0.6, 1),
             (0.65, 1), (0.7, 1), (0.75, 1), (0.8, 1), (0.85, 1), (0.9, 1), (0.95, 1), (1, 1), (1.05, 0.3),
             (1.1, 0.2), (1.2, 0.1)],
            [(-0.15, 0.02), (-0.1, 0.04), (-0.05, 0.15), (0, 0.5), (0.05, 0.15), (0.1, 0.1), (0.2, 0.04)])),
        (PLATEAU, 0.05, grid(
            evenly(0.85, 1.0), evenly(4.0, 10.0), evenly(0.5, 0.7, 1.0, 1.4, 2.0, 2.8))),
    ],
    deviations=[(0, 0.14), (0.01, 0.18), (0.03, 0.23), (0.08, 0.2), (0.2, 0.16), (0.5, 0.09)],
)  # fmt: skip


def basis(hosts: Floats) -> Floats:
    """Columns 1, 1/n, n of shape (m, 3)."""
    return np.stack([np.ones_like(hosts), 1.0 / hosts, hosts], axis=1)


def fit(hosts: Floats, times: Floats) -> Floats:
    """a, b, c of the times (m,) at distinct host counts (m,)."""
    columns = 3 if len(hosts) >= COUNTS_FOR_LINEAR_TERM else 2
    matrix = basis(hosts)[:, :columns] / times[:, None]  # relative: a repeat's noise grows with T
    weights = np.ones(len(hosts))  # Huber's keep one outlying count from bending the curve
    for _ in range(HUBER_ROUNDS + 1):
        root = np.sqrt(weights)
        # non-negative least squares: C. Lawson and R. Hanson, Solving Least Squares Problems (1974)
        found = nnls(matrix * root[:, None], root)[0]
        misses = np.abs(1.0 - matrix @ found)
        # 1.4826 * MAD estimates the sd; Huber's weights min(1, k / |miss|), k = 1.5 (P. Huber 1981)
        scale = max(1.4826 * float(np.median(misses)), MIN_SCALE)
        weights = np.minimum(1.0, HUBER_SCALES * scale / np.maximum(misses, 1e-12))
    return np.pad(found, (0, 3 - columns))


def predict(coefficients: Floats, hosts: Floats) -> Floats:
    """T (k,) at hosts (k,)."""
    return basis(hosts) @ coefficients
