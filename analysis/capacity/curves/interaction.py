"""Whether hosts and density interact: an F-test of log work times, additive model against full cells.

On some clusters the effect of density changes sign with size; the density law of one host count must not be
applied to another. Cells need repetitions, because the interaction is tested against their noise.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import stats

from analysis.capacity.curves.curve import Curve

Verdict = Literal["present", "absent", "untested"]
LEVEL = 0.05


def interaction(arms: dict[int, Curve]) -> tuple[Verdict, float | None]:
    """(verdict, p). untested: fewer than 2 densities by 2 host counts, or no repetitions."""
    counts = set.intersection(*({cell.x for cell in curve.cells} for curve in arms.values()))
    if len(arms) < 2 or len(counts) < 2:
        return "untested", None
    table = [
        [
            [np.log(t) for cell in curve.cells if cell.x == n for t in cell.times]
            for n in sorted(counts)
        ]
        for curve in arms.values()
    ]
    within = sum(float(np.var(cell)) * len(cell) for row in table for cell in row)
    degrees = sum(len(cell) - 1 for row in table for cell in row)
    if degrees < 1 or within <= 0:
        return "untested", None
    means = np.array([[np.mean(cell) for cell in row] for row in table])
    sizes = np.array([[len(cell) for cell in row] for row in table])
    left = means - means.mean(axis=1, keepdims=True) - means.mean(axis=0) + means.mean()
    free = (means.shape[0] - 1) * (means.shape[1] - 1)
    # Unequal repetitions: the harmonic mean stands for their number. Unweighted means analysis,
    # Biometrika 61 (1974) 117: the ratio is then nearly F-distributed.
    repeats = sizes.size / float((1.0 / sizes).sum())
    ratio = repeats * float((left**2).sum()) / free / (within / degrees)
    p = float(stats.f.sf(ratio, free, degrees))
    return ("present" if p < LEVEL else "absent"), p
