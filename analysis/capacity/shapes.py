"""`Shapes`: the laws by which work time may change along an axis, each with its weight before any data.

Work time over u, the place divided by the middle of the measured places, so that shapes have no scale:

    shares   T = a + b/u + c u, a + b + c = 1: Amdahl's law (c = 0) and the Universal Scalability Law
    power    log T = -p log u + q (log u)^2: a power law (q = 0), Gustafson's law (q < 0), an optimum (q > 0)
    plateau  T = (u^-pk + e^-pk)^(1/k): a power law up to an edge e, nothing beyond it
    overload log T = -p log u + q u^k: a power law that is soon paid for, with an optimum

Sources: G. Amdahl 1967; J. Gustafson, CACM 31 (1988) 532; N. Gunther, Guerrilla Capacity Planning (2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.capacity.array import Floats

Weighted = Sequence[tuple[float, float]]
"""(value of a parameter, its weight)."""


@dataclass(frozen=True)
class Shapes:
    """Parameters of each law, one row a shape, and the shapes' log weights (K,), which add to 1."""

    shares: Floats
    powers: Floats
    plateaus: Floats
    overloads: Floats
    log_weights: Floats
    deviations: Weighted
    """sd of real curves from every law, in log, before any data."""

    def log_times(self, u: Floats) -> Floats:
        """log T of every shape (K, k) at u (k,)."""
        log_u = np.log(u)
        a, b, c = (column[:, None] for column in self.shares.T)
        p, q = (column[:, None] for column in self.powers.T)
        found = [np.log(a + b / u + c * u), -p * log_u + q * log_u**2]
        if len(self.plateaus):
            slope, sharpness, edge = (column[:, None] for column in self.plateaus.T)
            power = -slope * sharpness
            found.append(np.logaddexp(power * log_u, power * np.log(edge)) / sharpness)
        if len(self.overloads):
            slope, growth, power = (column[:, None] for column in self.overloads.T)
            found.append(-slope * log_u + growth * u**power)
        return np.concatenate(found)


def shapes(
    constant: Weighted,
    growing: Weighted,
    slope: Weighted,
    bend: Weighted,
    edge: Sequence[float] = (),
    overload: Sequence[tuple[float, float, float]] = (),
    laws: tuple[float, float, float, float] = (0.5, 0.5, 0.0, 0.0),
    deviations: Weighted = (
        (0.0, 0.2),
        (0.01, 0.2),
        (0.03, 0.25),
        (0.08, 0.2),
        (0.2, 0.1),
        (0.5, 0.05),
    ),
) -> Shapes:
    """All combinations. constant, growing: a and c; slope, bend: p and q; overload: its p, q and k.
    laws: weight of each law."""
    shares = [
        ((a, 1 - a - c, c), wa * wc)
        for a, wa in constant
        for c, wc in growing
        if a + c <= LARGEST_SHARE
    ]
    powers = [((p, q), wp * wq) for p, wp in slope for q, wq in bend]
    plateaus = [((p, k, e), 1.0) for p in (0.85, 1.0) for k in (4.0, 10.0) for e in edge]
    overloads = [(three, 1.0) for three in overload]
    every: list[Sequence[tuple[tuple[float, ...], float]]]
    every = [shares, powers, plateaus, overloads]
    weights: list[float] = []
    for law, members in zip(laws, every, strict=True):
        total = sum(weight for _, weight in members)
        weights += [law * weight / total for _, weight in members]
    return Shapes(
        np.array([row for row, _ in shares]),
        np.array([row for row, _ in powers]),
        np.array([row for row, _ in plateaus]).reshape(len(plateaus), 3),
        np.array([row for row, _ in overloads]).reshape(len(overloads), 3),
        np.log(np.array(weights) / sum(weights)),
        deviations,
    )


LARGEST_SHARE = 0.95
"""Of the part of work time that is not divided, at the middle of the axis."""
