"""Hold-out of a density under load: its CPU and latency, predicted from the densities on both sides.

Rate: the surface without the density. Utilization and latency: those of the neighbours at the same rho,
the load over the *predicted* largest rate, because hosts at the same share of saturation are about equally
busy at any density. If the neighbours' latencies follow the CPU, a latency is also predicted from the CPU
measured in the same trial.

A prediction is compared with a level of load: the median of its repetitions, as for rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.fit import Laws, fit_laws
from density_study.analysis.capacity.curves.model import LatencyFit, UtilizationFit
from density_study.analysis.capacity.curves.surface import NotMeasuredError, surfaces
from density_study.analysis.capacity.curves.under_load import LatencyCurve
from density_study.analysis.capacity.inputs.point import Place, Point, Quantity, grouped

MAX_RHO = 0.8  # of the goal for p95; profiles allow no more by default
APART = 0.05  # of shares that are levels of their own; trials hold theirs within half of it


@dataclass(frozen=True)
class LoadMiss:
    """The miss of one level of load. miss: points of CPU, or |predicted / measured - 1| of a latency.
    percentile: that of a latency. busy: share of the hosts' cores used, where that is what it was predicted
    from."""

    quantity: Quantity
    group: str
    disk_type: str
    hosts: int
    vms_per_host: int
    load: float
    measured: float
    predicted: float
    percentile: float | None
    repetitions: int
    busy: float | None

    @property
    def place(self) -> Place:
        return (self.group, self.disk_type, self.hosts, self.vms_per_host)

    @property
    def miss(self) -> float:
        if self.quantity == "utilization":
            return abs(self.predicted - self.measured)
        return abs(self.predicted / self.measured - 1)


def hold_out_load(points: Sequence[Point]) -> tuple[LoadMiss, ...]:
    """Every interior density with points under load, predicted from the others. Empty if there is none."""
    loaded = (p for p in points if p.load is not None and p.quantity in ("utilization", "latency"))
    places = grouped(loaded, lambda point: point.place)
    return tuple(miss for place, held in places.items() for miss in _of_place(points, place, held))


def _of_place(points: Sequence[Point], place: Place, held: Sequence[Point]) -> Iterator[LoadMiss]:
    group, disk_type, hosts, density = place
    # At every host count: the density is unseen, not only the cell.
    left = [p for p in points if p.variant != (group, disk_type, density)]
    here = [p for p in left if (p.group, p.disk_type, p.hosts) == (group, disk_type, hosts)]
    largest = _largest_rate(left, place)
    if largest is None:
        return
    laws = fit_laws(here)
    for level in grouped(held, _level).values():
        first = level[0]
        load = float(np.median([p.load or 0.0 for p in level]))
        measured = float(np.median([p.value for p in level]))
        known = [p.busy for p in level if p.busy is not None]
        busy = float(np.median(known)) if len(known) == len(level) else None
        for predicted, of_busy in _predictions(first, laws, load / largest, busy):
            if predicted is not None:
                yield LoadMiss(
                    first.quantity, *place, load, measured, predicted,
                    first.percentile, len(level), of_busy,
                )  # fmt: skip


def _level(point: Point) -> tuple[object, ...]:
    """What the repetitions of one quantity at one load have in common. Loads are the same level where
    they are the same share of what their builds could do; where that is not known, if they are equal."""
    level = (point.load,) if point.share is None else ("share", round(point.share / APART))
    return (point.quantity, point.percentile, point.operation, level)


def _largest_rate(left: Sequence[Point], place: Place) -> float | None:
    group, disk_type, hosts, density = place
    surface = surfaces(left).get((group, disk_type))
    if surface is None:
        return None
    try:
        forecast = surface.forecast(np.array([float(hosts)]), density)
    except NotMeasuredError:
        return None
    return float(np.exp(-forecast.prediction.log_time[0]))  # work time is 1 / rate


def _predictions(
    first: Point, neighbours: Laws, rho: float, busy: float | None
) -> Iterator[tuple[float | None, float | None]]:
    """For the first point's quantity, each with what was busy, where it is predicted from that."""
    laws, curves, rates = neighbours
    density = first.vms_per_host
    if first.quantity == "utilization":
        reached = {place[3]: rate for place, rate in rates.items()}
        yield _utilization(laws, reached, density, rho), None
        return
    wanted = (first.percentile, first.operation)
    same = [curve for curve in curves if (curve.percentile, curve.operation) == wanted]
    yield _latency(same, density, rho, LatencyCurve.at), None
    # Near saturation, 5 points of CPU are more than a factor of two of p95: a prediction from the load
    # mainly shows the error of the CPU, which is judged separately. So also by the CPU that was measured.
    if busy is not None:
        yield _latency(same, density, busy, LatencyCurve.at_busy), busy


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


def _latency(
    curves: Sequence[LatencyFit],
    density: int,
    rho: float,
    at: Callable[[LatencyCurve, Floats], Floats],
) -> float | None:
    """None beyond 0.8, or beyond a neighbour's measurements. rho: or the busy share, as `at` requires."""
    if rho > MAX_RHO:
        return None
    # in logarithms: near saturation the neighbours differ by factors
    levels = {c.vms_per_host: float(np.log(at(c, np.array([rho]))[0])) for c in curves}
    found = _between({v: level for v, level in levels.items() if np.isfinite(level)}, density)
    return None if found is None else float(np.exp(found))


def _between(values: dict[int, float], density: int) -> float | None:
    """Linear in log v between the two nearest; None unless there is one on either side."""
    known = sorted(v for v in values if v >= 1)
    if density < 1 or not known or not known[0] < density < known[-1]:
        return None
    return float(np.interp(np.log(density), np.log(known), [values[v] for v in known]))
