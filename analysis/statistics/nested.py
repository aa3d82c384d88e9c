"""How many units to sample at each level of a nested experiment: builds, and seconds within their windows."""

from __future__ import annotations

from math import hypot, sqrt

ASSUMED_SECOND = 0.2
"""Standard deviation of the logarithm of a second's rate, neighbouring seconds taken as independent, if no
record shows it."""


def optimal_units(cost_above: float, cost: float, spread_above: float, spread: float) -> float:
    """Units per unit of the level above for which a mean is most certain at a given total cost. `cost_above`:
    that of a unit above, apart from its units here; spreads: those of the units of each level around their
    mean."""
    # T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013:
    # r_i = sqrt(c_(i+1) / c_i * s_i^2 / s_(i+1)^2), of level i within level i + 1
    return sqrt(cost_above / cost) * spread / spread_above


def spread_of_build(between: float, second: float, window_s: float) -> float:
    """For the mean rate of one window in each build: noise between builds, and of the window's seconds."""
    return hypot(between, second / sqrt(window_s))
