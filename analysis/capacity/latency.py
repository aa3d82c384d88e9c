"""Latency against load: R(rho) = S * (1 + k * stretch(rho, c)), fitted for each percentile by itself.

S and S*k come from non-negative least squares of relative misses, c from a short list by the least
miss. rho is the load over the largest rate the same arm reached. Nothing is said beyond the largest
rho that was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from analysis.capacity.array import Floats
from analysis.capacity.erlang import stretch

LEAST_LOADS = 3
SERVERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
ALMOST_SATURATED = 0.98
"""A load measured at saturation itself has no finite open-queue latency: it is left out of the fit."""


@dataclass(frozen=True)
class LatencyCurve:
    """service_s: S. factor: k. spread: sd of log misses, inflated for the two coefficients fitted."""

    service_s: float
    factor: float
    servers: float
    spread: float
    largest_rho: float
    smallest_rho: float
    loads: int

    def at(self, rho: Floats) -> Floats:
        """Seconds at rho; nan beyond the largest measured rho."""
        inside = rho <= self.largest_rho
        safe = np.where(inside, rho, 0.0)
        found = self.service_s * (1 + self.factor * stretch(safe, self.servers))
        return np.where(inside, found, np.nan)


def fit_latency(rho: Sequence[float], times_s: Sequence[float]) -> LatencyCurve | None:
    """The curve through (rho, seconds); None with fewer than 3 distinct loads below saturation."""
    load, time = np.asarray(rho, dtype=float), np.asarray(times_s, dtype=float)
    below = (load > 0) & (load <= ALMOST_SATURATED)
    load, time = load[below], time[below]
    distinct = len(np.unique(np.round(load, 2)))
    if distinct < LEAST_LOADS:
        return None
    return min((_fitted(load, time, c) for c in SERVERS), key=lambda curve: curve.spread)


def _fitted(load: Floats, time: Floats, servers: float) -> LatencyCurve:
    matrix = np.stack([np.ones_like(load), stretch(load, servers)], axis=1) / time[:, None]
    (base, slope), _ = nnls(matrix, np.ones(len(load)))
    base = max(float(base), 1e-3 * float(time.min()))
    curve = LatencyCurve(
        service_s=base,
        factor=float(slope) / base,
        servers=servers,
        spread=0.0,
        largest_rho=float(load.max()),
        smallest_rho=float(load.min()),
        loads=len(np.unique(np.round(load, 2))),
    )
    misses = np.log(time / curve.at(load))
    degrees = max(1, len(load) - 2)
    spread = float(np.sqrt((misses**2).sum() / degrees))
    return LatencyCurve(**{**curve.__dict__, "spread": spread})
