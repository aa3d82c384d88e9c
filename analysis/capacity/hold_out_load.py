"""Hold-out of a density under load: the CPU and the latency it would show, from densities on both sides.

Rate: the surface without the density. Utilization and latency: the neighbours' at the same rho, where
rho is the load over the *predicted* largest rate; a host at the same share of its saturation is about as
busy, whatever its density. Between neighbours is linear in log v, latencies in logarithms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.capacity.fit import fit_laws
from analysis.capacity.latency import LatencyCurve
from analysis.capacity.model import LatencyFit, UtilizationFit
from analysis.capacity.points import Point, sizes
from analysis.capacity.surface import NoForecastError, surfaces

LARGEST_RHO = 0.8
Cell = tuple[str, str, int, int]
"""Group, medium, hosts, VMs per host."""


@dataclass(frozen=True)
class LoadMiss:
    """miss: points of CPU, or |predicted / measured - 1| of a latency. percentile: of a latency."""

    quantity: Literal["utilization", "latency"]
    group: str
    medium: str
    hosts: int
    vms_per_host: int
    load: float
    measured: float
    predicted: float
    percentile: float | None = None

    @property
    def miss(self) -> float:
        if self.quantity == "utilization":
            return abs(self.predicted - self.measured)
        return abs(self.predicted / self.measured - 1)


def hold_out_load(points: Sequence[Point]) -> tuple[LoadMiss, ...]:
    """Every interior density with points under load, predicted from the others. Empty if there is none."""
    found: dict[Cell, list[Point]] = defaultdict(list)
    for point in points:
        if point.load is not None:
            found[point.group, point.medium, point.hosts, point.vms_per_host].append(point)
    return tuple(miss for cell, those in found.items() for miss in _of_cell(points, cell, those))


def _of_cell(points: Sequence[Point], cell: Cell, held: Sequence[Point]) -> Iterator[LoadMiss]:
    group, medium, hosts, density = cell
    # At every host count: the density is unseen, not the cell alone.
    left = [p for p in points if (p.group, p.medium, p.vms_per_host) != (group, medium, density)]
    here = [p for p in left if (p.group, p.medium, p.hosts) == (group, medium, hosts)]
    laws, curves, rates = fit_laws(here)
    reached = {place[3]: rate for place, rate in rates.items()}
    largest = _largest_rate(left, cell)
    for point in held:
        if largest is None or point.quantity not in ("utilization", "latency"):
            continue
        rho = (point.load or 0.0) / largest
        if point.quantity == "utilization":
            predicted = _utilization(laws, reached, density, rho)
        else:
            predicted = _latency(curves, density, rho, point)
        if predicted is not None:
            yield LoadMiss(
                point.quantity, group, medium, hosts, density, point.load or 0.0, point.value, predicted,
                point.percentile,
            )  # fmt: skip


def _largest_rate(left: Sequence[Point], cell: Cell) -> float | None:
    group, medium, hosts, density = cell
    surface = surfaces(sizes(left)).get((group, medium))
    if surface is None:
        return None
    try:
        forecast = surface.forecast(np.array([float(hosts)]), density)
    except NoForecastError:
        return None
    return float(np.exp(-forecast.prediction.log_time[0]))


def _utilization(
    laws: Sequence[UtilizationFit], reached: Mapping[int, float], density: int, rho: float
) -> float | None:
    """Percent at rho, at most 100. reached: largest rate of each density."""
    levels = {
        law.vms_per_host: law.idle_percent + law.percent_per_rate * rho * reached[law.vms_per_host]
        for law in laws
    }
    found = _between(levels, density)
    return None if found is None else min(100.0, found)


def _latency(curves: Sequence[LatencyFit], density: int, rho: float, point: Point) -> float | None:
    """Seconds at rho; None beyond 0.8 or beyond what a neighbour was measured at."""
    if rho > LARGEST_RHO:
        return None
    same = [c for c in curves if (c.percentile, c.operation) == (point.percentile, point.operation)]
    levels = {c.vms_per_host: float(np.log(_at(c)(rho))) for c in same}
    found = _between({v: level for v, level in levels.items() if np.isfinite(level)}, density)
    return None if found is None else float(np.exp(found))


def _at(fit: LatencyFit) -> Callable[[float], float]:
    curve = LatencyCurve(
        fit.service_s,
        fit.factor,
        fit.servers,
        fit.spread,
        fit.largest_rho,
        fit.smallest_rho,
        fit.loads,
    )
    return lambda rho: float(curve.at(np.array([rho]))[0])


def _between(values: dict[int, float], density: int) -> float | None:
    """Linear in log v between the two nearest; None unless there is one on either side."""
    known = sorted(v for v in values if v >= 1)
    if density < 1 or not known or not known[0] < density < known[-1]:
        return None
    found = np.interp(np.log(density), np.log(known), [values[v] for v in known])
    return float(found)
