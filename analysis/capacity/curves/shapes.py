"""`Shapes`: the laws by which work time may change along an axis, each with its weight before any data.

Work time T is taken over u, the place divided by the geometric mean of the measured places, so that a
law has no scale. Each law is a grid of parameters; one row of it is a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from density_study.analysis.capacity import Floats

Weighted = Sequence[tuple[float, float]]  # (value of a parameter, its weight)
Rows = Sequence[tuple[tuple[float, ...], float]]  # (parameters of a shape, its weight)
MAX_SHARE = 0.95  # largest part of the work time that is not divided, at u = 1


@dataclass(frozen=True)
class Law:
    """`log_time` takes u (k,) and the columns of the parameters, each (K, 1), and returns (K, k)."""

    name: str
    formula: str
    source: str
    parameters: tuple[str, ...]
    log_time: Callable[..., Floats]


UNIVERSAL = Law(
    "universal scalability law",
    "T = a + b/u + c u, b = 1 - a - c",
    "N. Gunther, Guerrilla Capacity Planning (2007); with c = 0 G. Amdahl, AFIPS (1967)",
    ("a", "c"),
    lambda u, a, c: np.log(a + (1 - a - c) / u + c * u),
)
POWER = Law(
    "power law with a bend",
    "T = u^-p exp(q (ln u)^2)",
    "q = 0: power law; q < 0: near J. Gustafson, CACM 31 (1988) 532; q > 0: has an optimum",
    ("p", "q"),
    lambda u, p, q: -p * np.log(u) + q * np.log(u) ** 2,
)
PLATEAU = Law(
    "plateau",
    "T = (u^-pk + e^-pk)^(1/k)",
    "a power law up to the edge e, then another resource is the bottleneck; k is its precision",
    ("p", "k", "e"),
    # logaddexp: u^-pk and e^-pk underflow where k is large
    lambda u, p, k, e: np.logaddexp(-p * k * np.log(u), -p * k * np.log(e)) / k,
)
OVERLOAD = Law(
    "overload",
    "T = u^-p exp(q u^k)",
    "a power law times a penalty that grows exponentially: has an optimum",
    ("p", "q", "k"),
    lambda u, p, q, k: -p * np.log(u) + q * u**k,
)


@dataclass(frozen=True)
class Shapes:
    """Each law with the parameters (K, p) of its shapes. log_weights: those of all shapes, in this order."""

    laws: tuple[tuple[Law, Floats], ...]
    log_weights: Floats
    deviations: Weighted  # sd of real curves from every law, in log, before any data

    def log_times(self, u: Floats) -> Floats:
        """log T of every shape (all K, k) at u (k,)."""
        return np.concatenate([law.log_time(u, *rows.T[:, :, None]) for law, rows in self.laws])


def shapes(laws: Sequence[tuple[Law, float, Rows]], deviations: Weighted) -> Shapes:
    """laws: each with its weight and its rows."""
    weights: list[float] = []
    for _, of_law, rows in laws:
        # a law's weight does not depend on how fine its grid is
        total = sum(weight for _, weight in rows)
        weights += [of_law * weight / total for _, weight in rows]
    parameters = tuple((law, np.array([row for row, _ in rows])) for law, _, rows in laws)
    return Shapes(parameters, np.log(np.array(weights) / sum(weights)), deviations)


def grid(*axes: Weighted) -> Rows:
    """All combinations of the parameters' values."""
    return [
        (tuple(value for value, _ in row), float(np.prod([weight for _, weight in row])))
        for row in product(*axes)
    ]


def shares(constant: Weighted, growing: Weighted) -> Rows:
    """Rows of the universal law: a and c, and b not too small."""
    return [(row, weight) for row, weight in grid(constant, growing) if sum(row) <= MAX_SHARE]


def evenly(*values: float) -> Weighted:
    return [(value, 1.0) for value in values]
