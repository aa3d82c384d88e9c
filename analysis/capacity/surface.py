"""`Surface`: work time of one group on one medium, over hosts and VMs per host together.

Every density is an arm with its own curve over hosts; a density between measured ones is read off the
density law fitted across the arms at each host count. An arm with under three host counts borrows the
shape of the arm with most, at its own level: that hosts and density do not interact is then assumed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.capacity import density, scaling
from analysis.capacity.array import Floats
from analysis.capacity.calibration import Calibration, Side, Spread, calibrate
from analysis.capacity.curve import Cell, Curve
from analysis.capacity.points import Point, sizes

LEAST_COUNTS = 3
LEAST_DENSITIES = 2
BORROWED_SPREAD = 0.05
"""Extra log error of an arm that borrows another's shape: interactions seen are of this size."""


@dataclass(frozen=True)
class Forecast:
    """log work time at each host count asked for (k,), and how far it may miss.

    spreads: of the level a new cell would show. repeat_extra: sd of one measurement beyond that.
    """

    log_time: Floats
    spreads: tuple[Spread, ...]
    calibration: Calibration
    notes: tuple[str, ...] = ()
    nearness: tuple[float, ...] = ()
    """Of each host count to a measured one: see Calibration.of_truth. Empty: near none."""

    @property
    def repeat_extra(self) -> float:
        return self.calibration.repeat_extra

    def draws(self, dice: np.random.Generator, count: int) -> Floats:
        """True work times (count, k): one error a draw, for the curve is off at all counts alike."""
        near = self.nearness or (0.0,) * len(self.spreads)
        truth = map(self.calibration.of_truth, self.spreads, near)
        sigma = np.array([spread.sigma for spread in truth])
        degrees = min(spread.degrees for spread in self.spreads)
        errors = dice.standard_t(degrees, count)[:, None] * sigma[None, :]
        times: Floats = np.exp(self.log_time[None, :] + np.clip(errors, -3.0, 3.0))
        return times


class NoForecastError(Exception):
    """Nothing measured supports the number asked for; the text says what to measure."""


@dataclass(frozen=True)
class Surface:
    group: str
    medium: str
    unit: str
    arms: dict[int, Curve]
    scaling: Calibration
    density: Calibration

    @cached_property
    def host_counts(self) -> tuple[int, ...]:
        return tuple(sorted({cell.x for curve in self.arms.values() for cell in curve.cells}))

    @cached_property
    def densities(self) -> tuple[int, ...]:
        return tuple(sorted(self.arms))

    @cached_property
    def scalable(self) -> tuple[int, ...]:
        """Densities with a curve over hosts of their own."""
        return tuple(v for v, curve in self.arms.items() if len(curve.cells) >= LEAST_COUNTS)

    def forecast(self, hosts: Floats, vms_per_host: int) -> Forecast:
        """NoForecastError where the density, or a curve over hosts, was not measured."""
        if vms_per_host in self.arms:
            return self._measured_density(hosts, vms_per_host)
        return self._between(hosts, vms_per_host)

    def _measured_density(self, hosts: Floats, v: int) -> Forecast:
        curve = self.arms[v]
        if len(curve.cells) >= LEAST_COUNTS:
            return self._own(curve, hosts)
        if set(hosts.astype(int)) <= {cell.x for cell in curve.cells}:
            return self._levels(curve, hosts)
        if not self.scalable:
            raise NoForecastError(
                f"{self.group} on {self.medium} was measured at {_counted(self.host_counts)} only: "
                f"how it scales with hosts is not known; measure at 3 host counts or more, "
                f"for example {_proposal(self.host_counts)}"
            )
        return self._borrowed(curve, hosts)

    def _own(self, curve: Curve, hosts: Floats) -> Forecast:
        logs = curve.log_predictions(hosts, self.scaling.weights)
        spreads = tuple(self._spread(curve, float(n)) for n in hosts)
        near = tuple(_nearness(curve, float(n)) for n in hosts)
        return Forecast(logs, spreads, self.scaling, nearness=near)

    def _spread(self, curve: Curve, hosts: float) -> Spread:
        side: Side = "inside"
        if hosts > curve.x[-1]:
            side = "above"
        elif hosts < curve.x[0]:
            side = "below"
        spread = self.scaling.spread(curve, side)
        if side == "above":
            # The error grows with the distance; it was learnt over the last measured step.
            step = np.log(curve.x[-1] / curve.x[-2])
            return Spread(
                spread.sigma * max(1.0, float(np.log(hosts / curve.x[-1]) / step)), spread.degrees
            )
        return spread

    def _levels(self, curve: Curve, hosts: Floats) -> Forecast:
        level = {cell.x: np.log(cell.level) for cell in curve.cells}
        repeats = {cell.x: len(cell.times) for cell in curve.cells}
        spread = self.scaling.shared["inside"]
        spreads = tuple(
            Spread(max(self.scaling.noise, spread.sigma) / repeats[int(n)] ** 0.5, spread.degrees)
            for n in hosts
        )
        return Forecast(np.array([level[int(n)] for n in hosts]), spreads, self.scaling)

    def _borrowed(self, curve: Curve, hosts: Floats) -> Forecast:
        lender = max(self.scalable, key=lambda v: len(self.arms[v].cells))
        shape = self.arms[lender]
        gaps = np.log(curve.levels) - shape.log_predictions(curve.x, self.scaling.weights)
        base = self._own(shape, hosts)
        spreads = tuple(
            Spread(float(np.hypot(one.sigma, BORROWED_SPREAD)), one.degrees) for one in base.spreads
        )
        note = f"the shape over hosts is that of {lender} VMs per host: interaction not tested"
        return Forecast(base.log_time + gaps.mean(), spreads, self.scaling, (note,))

    def _between(self, hosts: Floats, v: int) -> Forecast:
        measured = [one for one in self.densities if one >= 1]
        if len(measured) < LEAST_DENSITIES or not measured[0] < v < measured[-1]:
            raise NoForecastError(
                f"{self.group} on {self.medium} was measured at {_densities(self.densities)}, "
                f"not at {v} and not on both sides of it; measure at {v}"
            )
        parts = {one: self._measured_density(hosts, one) for one in measured}
        curves = [
            self._across({one: parts[one].log_time[i] for one in measured})
            for i in range(len(hosts))
        ]
        at = np.array([float(v)])
        logs = np.array([curve.log_predictions(at, self.density.weights)[0] for curve in curves])
        # One law's spread stands for all host counts: they share the densities it is learnt from.
        law = self.density.spread(curves[len(curves) // 2], "inside")
        spreads = tuple(
            Spread(
                float(np.hypot(law.sigma, max(part.spreads[i].sigma for part in parts.values()))),
                law.degrees,
            )
            for i in range(len(hosts))
        )
        notes = tuple(note for part in parts.values() for note in part.notes)
        return Forecast(logs, spreads, self.density, notes)

    @staticmethod
    def _across(log_times: dict[int, float]) -> Curve:
        """The curve over densities at one host count."""
        return Curve(density, tuple(Cell(v, (float(np.exp(log)),)) for v, log in log_times.items()))


def _nearness(curve: Curve, hosts: float) -> float:
    """1 at a measured count, falling to 0 as far off as left-out counts are from their neighbours."""
    logs = np.log(curve.x)
    gaps = np.minimum(np.diff(logs)[1:], np.diff(logs)[:-1])
    if hosts < curve.x[0] or hosts > curve.x[-1] or not len(gaps):
        return 0.0
    off = float(np.abs(logs - np.log(hosts)).min())
    return max(0.0, 1.0 - off / float(gaps.mean()))


def surfaces(points: Iterable[Point]) -> dict[tuple[str, str], Surface]:
    """(group, medium) to its surface; calibrations are shared by all groups of the points."""
    cells = work_cells(tuple(points))
    arms: dict[tuple[str, str], dict[int, Curve]] = defaultdict(dict)
    by_arm: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for (group, medium, v, hosts), (times, _) in sorted(cells.items()):
        by_arm[group, medium, v].append(Cell(hosts, times))
    for (group, medium, v), found in by_arm.items():
        arms[group, medium][v] = Curve(scaling, tuple(found))
    over_hosts = calibrate([curve for one in arms.values() for curve in one.values()])
    over_densities = calibrate(list(density_curves(cells).values()))
    units = {(group, medium): unit for (group, medium, _, _), (_, unit) in cells.items()}
    return {
        key: Surface(*key, units[key], found, over_hosts, over_densities)
        for key, found in arms.items()
    }


Cells = dict[tuple[str, str, int, int], tuple[tuple[float, ...], str]]
"""(group, medium, VMs per host, hosts) to the work times there, and the unit they were given in."""


def work_cells(points: Sequence[Point]) -> Cells:
    """The times and rates among the points, as work times by cell."""
    times: dict[tuple[str, str, int, int], list[float]] = defaultdict(list)
    units: dict[tuple[str, str, int, int], str] = {}
    for point in sizes(points):
        key = (point.group, point.medium, point.vms_per_host, point.hosts)
        times[key].append(point.work_time_s)
        units[key] = point.unit
    return {key: (tuple(found), units[key]) for key, found in times.items()}


def density_curves(cells: Cells) -> dict[tuple[str, str, int], Curve]:
    """(group, medium, hosts) to the curve over VMs per host; the bare host is not on it."""
    found: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for (group, medium, v, hosts), (times, _) in sorted(cells.items()):
        if v >= 1:
            found[group, medium, hosts].append(Cell(v, times))
    return {place: Curve(density, tuple(one)) for place, one in found.items()}


def _counted(counts: Sequence[int]) -> str:
    words = ", ".join(str(count) for count in counts)
    return f"{words} host{'s' if counts != (1,) else ''}"


def _densities(counts: Sequence[int]) -> str:
    return f"{', '.join(str(count) for count in counts)} VMs per host"


def _proposal(counts: Sequence[int]) -> str:
    first = max(counts)
    return ", ".join(str(first * factor) for factor in (1, 2, 4))
