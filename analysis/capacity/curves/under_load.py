"""Laws of a variant under load: its utilization, and its latency.

Utilization: U = U0 + S*X, from monitor samples at several loads (P. Denning and J. Buzen, The Operational
Analysis of Queueing Network Models, 1978). U0 is what runs anyway, S the percent of the hosts' cores that
one thing a second takes. Both are not negative. Above 100 % there is nothing, so a load whose U would lie
there is beyond saturation.

Latency: R(rho) = S * (1 + k * stretch(rho, c)), fitted for each percentile by itself. rho is the load
over the largest rate of the same variant.

A curve of the CPU replaces rho by the share of the hosts' cores used during the same trial (busy). Unlike a
rate, it shows that a shared or throttled machine was slower at that time; near saturation, a few percent of
speed multiply a latency. The line from load to busy cores is fitted separately.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field
from scipy.optimize import nnls

from density_study.analysis.capacity import Floats
from density_study.workloads.base.values import Frozen

MIN_LOADS = 3  # S, k and the choice of c: two loads fit any of them
MIN_LOADS_OF_CPU = 2
SERVERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # c by trial: R is linear in S and S*k only
# A load measured at saturation itself has no finite open-queue latency: the fit excludes it.
ALMOST_SATURATED = 0.98


class UtilizationLaw(Frozen):
    """idle_percent: U0. percent_per_rate: S, percent per unit per second."""

    idle_percent: float
    percent_per_rate: float
    largest_rate: float
    loads: int


def fit_utilization(rates: Sequence[float], percents: Sequence[float]) -> UtilizationLaw | None:
    """The law through (rate, percent); None with fewer than 2 distinct rates."""
    rate, percent = np.asarray(rates, dtype=float), np.asarray(percents, dtype=float)
    distinct = _distinct(rate / rate.max()) if len(rate) else 0
    if distinct < MIN_LOADS_OF_CPU:
        return None
    scale = rate.max()  # both columns near 1: the system is well conditioned
    # non-negative least squares (Lawson and Hanson 1974): neither U0 nor S can be below zero
    (idle, slope), _ = nnls(np.stack([np.ones_like(rate), rate / scale], axis=1), percent)
    return UtilizationLaw(
        idle_percent=float(idle),
        percent_per_rate=float(slope / scale),
        largest_rate=float(scale),
        loads=distinct,
    )


def stretch(rho: Floats, servers: float) -> Floats:
    """Waiting time over service time; shape as rho."""
    # Mean wait of an M/M/c queue (H. Sakasegawa, Annals of the Institute of
    # Statistical Mathematics 29, 1977): rho^(sqrt(2(c+1)) - 1) / (c (1 - rho)). The time in the system is
    # within 5 % of Erlang C; the bare wait is up to 80 % too long below a rho of 0.8.
    power = np.sqrt(2 * (servers + 1)) - 1
    result: Floats = np.power(rho, power) / (servers * (1 - rho))
    return result


class LatencyCurve(Frozen):
    """service_s: S. factor: k. spread: sd of log misses at a load, inflated for the two coefficients
    fitted. of_cpu: it is a curve of busy = idle + busy_per_rho * rho."""

    service_s: float
    factor: float
    servers: float
    spread: float
    largest_rho: float
    loads: int
    of_cpu: bool = Field(False, description="in place of rho stands idle + busy_per_rho * rho")
    idle: float = Field(0.0, description="share of the hosts' cores, at no load")
    busy_per_rho: float = 1.0
    largest_busy: float = 1.0

    def at(self, rho: Floats) -> Floats:
        """Seconds at rho; nan beyond the largest measured rho."""
        # 1 / (1 - rho) multiplies a small error of rho: an extrapolation would be a guess
        inside = rho <= self.largest_rho
        busy = self.idle + self.busy_per_rho * np.where(inside, rho, 0.0)
        return np.where(inside, self._at(np.minimum(busy, self.largest_busy)), np.nan)

    def at_busy(self, busy: Floats) -> Floats:
        """Seconds where so much of the cores is used; nan beyond the most that was measured, and for a
        curve that is not of the CPU."""
        inside = self.of_cpu & (busy <= self.largest_busy)
        return np.where(inside, self._at(np.where(inside, busy, 0.0)), np.nan)

    def _at(self, used: Floats) -> Floats:
        return self.service_s * (1 + self.factor * stretch(used, self.servers))


def fit_latency(rho: Sequence[float], times_s: Sequence[float]) -> LatencyCurve | None:
    """The curve; None with fewer than 3 distinct loads below saturation."""
    load, time = np.asarray(rho, dtype=float), np.asarray(times_s, dtype=float)
    below = (load > 0) & (load <= ALMOST_SATURATED)
    return _closest(load[below], time[below]) if _distinct(load[below]) >= MIN_LOADS else None


def fit_latency_of_cpu(
    rho: Sequence[float], times_s: Sequence[float], busy: Sequence[float]
) -> LatencyCurve | None:
    """Fit latency over the hosts' CPU use, and CPU use as a line over load. The three sequences have one
    value per measurement. rho: load as a share of the highest. times_s: latency. busy: share of the hosts'
    cores that is used. None with too few different loads."""
    load, time, used = (np.asarray(values, dtype=float) for values in (rho, times_s, busy))
    below = (load > 0) & (np.maximum(load, used) <= ALMOST_SATURATED)
    load, time, used = load[below], time[below], used[below]
    if _distinct(load) < MIN_LOADS:
        return None
    return _over_load(_closest(used, time), load, used, time)


def log_misses(
    curve: LatencyCurve, rho: Sequence[float], times_s: Sequence[float], busy: Sequence[float] = ()
) -> Floats:
    """log(measured / predicted) of the points within the curve; by busy cores for a curve of the CPU."""
    if curve.of_cpu:
        predicted = curve.at_busy(np.asarray(busy, dtype=float))
    else:
        predicted = curve.at(np.asarray(rho, dtype=float))
    misses: Floats = np.log(np.asarray(times_s, dtype=float) / predicted)
    return misses[np.isfinite(misses)]


def _distinct(load: Floats) -> int:
    return len(np.unique(np.round(load, 2)))  # achieved loads of one target differ by a little


def _closest(load: Floats, time: Floats) -> LatencyCurve:
    return min((_fitted(load, time, c) for c in SERVERS), key=lambda curve: curve.spread)


def _fitted(load: Floats, time: Floats, servers: float) -> LatencyCurve:
    """load: or what is used of the cores."""
    matrix = np.stack([np.ones_like(load), stretch(load, servers)], axis=1) / time[:, None]
    # Non-negative least squares (Lawson and Hanson 1974) of relative misses: in seconds, the few slow
    # points near saturation would decide everything. R = base + slope * stretch, k = slope / base.
    (base, slope), _ = nnls(matrix, np.ones(len(load)))
    base = max(float(base), 1e-3 * float(time.min()))  # k is a ratio to it: not zero
    curve = LatencyCurve(
        service_s=base,
        factor=float(slope) / base,
        servers=servers,
        spread=0.0,
        largest_rho=float(load.max()),
        loads=_distinct(load),
    )
    return curve.model_copy(update={"spread": _spread(curve, load, time)})


def _over_load(by_cpu: LatencyCurve, load: Floats, used: Floats, time: Floats) -> LatencyCurve:
    """A curve of the CPU as a function of load, including the error of the line between them."""
    law = fit_utilization(load.tolist(), (100 * used).tolist())  # percent
    assert law is not None  # a curve has at least two loads
    over_load = {
        "largest_rho": float(load.max()),
        "loads": _distinct(load),
        "of_cpu": True,
        "idle": law.idle_percent / 100,
        "busy_per_rho": law.percent_per_rate / 100,
        "largest_busy": float(used.max()),
    }
    curve = by_cpu.model_copy(update=over_load)
    return curve.model_copy(update={"spread": _spread(curve, load, time)})


def _spread(curve: LatencyCurve, load: Floats, time: Floats) -> float:
    misses = np.log(time / curve.at(load))
    return float(np.sqrt((misses**2).sum() / max(1, len(load) - 2)))  # 2 coefficients fitted
