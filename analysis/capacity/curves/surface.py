"""`Surface`: work time of one group on one disk type, over hosts and VMs per host together.

Every density is a variant with its own curve over hosts. A density between measured ones comes from the
density law fitted across the variants at each host count. A variant with fewer than three host counts uses
the shape of the variant with the most, at its own level, assuming that hosts and density do not interact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves import beyond, density, scaling
from density_study.analysis.capacity.curves.calibration import Calibration, calibrate
from density_study.analysis.capacity.curves.curve import Cell, Curve
from density_study.analysis.capacity.curves.prediction import Prediction
from density_study.analysis.capacity.inputs.point import Point, grouped, sizes

FARTHEST = 1.5  # forecasts end at this multiple of the largest measured host count
MIN_COUNTS = 3  # through two counts every law passes
MIN_DENSITIES = 2
# Extra log error of a variant that uses another's shape: the size of interactions observed so far.
BORROWED_SPREAD = 0.05
# Extra log error below a variant's smallest host count; no law was better on public clusters.
BELOW_SPREAD = 0.2


@dataclass(frozen=True)
class Forecast:
    """Work time at each requested host count, and the additional assumptions."""

    prediction: Prediction
    notes: tuple[str, ...] = ()


class NotMeasuredError(Exception):
    """No measurement supports the requested number; the text says why, and what to measure."""


@dataclass(frozen=True)
class Surface:
    group: str
    disk_type: str
    unit: str
    variants: dict[int, Curve]
    scaling: Calibration
    density: Calibration
    _known: dict[tuple[tuple[float, ...], int], Forecast] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def host_counts(self) -> tuple[int, ...]:
        return tuple(sorted({cell.x for curve in self.variants.values() for cell in curve.cells}))

    @cached_property
    def densities(self) -> tuple[int, ...]:
        return tuple(sorted(self.variants))

    @cached_property
    def scalable(self) -> tuple[int, ...]:
        """Densities that have their own curve over hosts."""
        return tuple(v for v, curve in self.variants.items() if len(curve.cells) >= MIN_COUNTS)

    def forecast(self, hosts: Floats, vms_per_host: int) -> Forecast:
        """NotMeasuredError if the density, or a curve over hosts, was not measured."""
        key = (tuple(hosts.tolist()), vms_per_host)
        if key not in self._known:
            measured = vms_per_host in self.variants
            make = self._measured_density if measured else self._between
            self._known[key] = make(hosts, vms_per_host)
        return self._known[key]

    def _measured_density(self, hosts: Floats, v: int) -> Forecast:
        curve = self.variants[v]
        measured = {cell.x for cell in curve.cells}
        if len(measured) >= MIN_COUNTS or set(hosts.astype(int)) <= measured:
            return self._own(curve, hosts)
        if not self.scalable:
            last = self.host_counts[-1]
            raise NotMeasuredError(
                f"{self.group} on {self.disk_type} was measured only at {_words(self.host_counts)} "
                f"host{'s' if self.host_counts != (1,) else ''}, so its scaling with hosts is unknown; "
                f"measure at 3 or more host counts, for example {_words((last, 2 * last, 4 * last))}"
            )
        return self._borrowed(curve, hosts)

    def _own(self, curve: Curve, hosts: Floats) -> Forecast:
        found = beyond.predict(self.scaling, curve, hosts)
        below = np.where(hosts < curve.x[0], BELOW_SPREAD, 0.0)
        cliffs = curve.cliffs(self.scaling.noise.of(curve))
        notes = tuple(str(cliff) for cliff in cliffs if hosts.min() < cliff.above)
        # outer: one error for all counts below, not one for each
        return Forecast(found.moved(0.0, np.outer(below, below)), notes)

    def _borrowed(self, curve: Curve, hosts: Floats) -> Forecast:
        lender = max(self.scalable, key=lambda v: len(self.variants[v].cells))
        shape = self.variants[lender]
        there = self.scaling.predict(shape, curve.x).log_time
        gaps = np.log(curve.levels) - there  # this variant's level relative to the lender's
        base = beyond.predict(self.scaling, shape, hosts)
        noise = float(base.shares @ base.cells) + base.repeat / float(curve.repeats.mean())
        off = BORROWED_SPREAD**2 + noise / len(gaps)  # more counts do not remove the interaction
        note = f"the shape over hosts is taken from {lender} VMs per host: interaction not tested"
        return Forecast(base.moved(float(gaps.mean()), off), (note,))

    def _between(self, hosts: Floats, v: int) -> Forecast:
        measured = [one for one in self.densities if one >= 1]
        if len(measured) < MIN_DENSITIES or not measured[0] < v < measured[-1]:
            raise NotMeasuredError(
                f"{self.group} on {self.disk_type} was measured at {_words(self.densities)} VMs per host, "
                f"not at {v} and not on both sides of {v}; measure at {v}"
            )
        at = np.array([float(v)])
        here = [c for one in measured for c in self.variants[one].cells if c.x == hosts[0]]
        # measured repetitions at this count are better than predictions of them, and bring their noise
        if len(hosts) == 1 and len(here) == len(measured):
            cells = tuple(Cell(one, c.times) for one, c in zip(measured, here, strict=True))
            return Forecast(self.density.predict(Curve(density, cells), at))
        parts = {one: self._measured_density(hosts, one) for one in measured}
        times = {one: np.exp(part.prediction.log_time) for one, part in parts.items()}
        across = []
        for i in range(len(hosts)):
            cells = tuple(Cell(one, (float(found[i]),)) for one, found in times.items())
            across.append(self.density.predict(Curve(density, cells), at))
        # What the law over densities errs at one host count it errs at all: it has the same densities.
        sds = np.sqrt([one.covariance[0, 0] for one in across])
        predictions = [part.prediction for part in parts.values()]
        # Errors of the variants are related in an unknown way: the least certain variant's stand for all.
        worst = max(predictions, key=lambda one: np.trace(one.covariance))
        by = np.array([one.log_time[0] for one in across]) - worst.log_time
        prediction = worst.moved(by, np.outer(sds, sds))
        notes = tuple(note for part in parts.values() for note in part.notes)
        return Forecast(prediction, notes)


def surfaces(points: Iterable[Point]) -> dict[tuple[str, str], Surface]:
    """(group, disk type) to its surface; calibrations are shared by all groups of the points."""
    used = sizes(points)
    cells = work_cells(used)
    variants: dict[tuple[str, str], dict[int, Curve]] = defaultdict(dict)
    for (group, disk_type, v), those in groupby(sorted(cells.items()), key=lambda one: one[0][:3]):
        variant = tuple(Cell(hosts, times) for (*_, hosts), times in those)
        variants[group, disk_type][v] = Curve(scaling, variant)
    curves = [curve for one in variants.values() for curve in one.values()]
    over_hosts = calibrate(curves, scaling.SHAPES)
    over_densities = calibrate(list(density_curves(cells).values()), density.SHAPES)
    units = {(point.group, point.disk_type): point.unit for point in used}
    return {
        key: Surface(*key, units[key], found, over_hosts, over_densities)
        for key, found in variants.items()
    }


@lru_cache(maxsize=4)
def surfaces_of(points: tuple[Point, ...]) -> Mapping[tuple[str, str], Surface]:
    """`surfaces`, calibrated once: clusters, changes and years are forecast from the same points."""
    return surfaces(points)


# (group, disk type, VMs per host, hosts) to the work times there
Cells = dict[tuple[str, str, int, int], tuple[float, ...]]


def work_cells(points: Sequence[Point]) -> Cells:
    """The times and rates among the points, as work times by cell."""
    cells = grouped(sizes(points), lambda point: (*point.variant, point.hosts))
    return {key: tuple(point.work_time_s for point in found) for key, found in cells.items()}


def density_curves(cells: Cells) -> dict[tuple[str, str, int], Curve]:
    """(group, disk type, hosts) to the curve over VMs per host; the bare host is not on it."""
    found: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for (group, disk_type, v, hosts), times in sorted(cells.items()):
        if v >= 1:
            found[group, disk_type, hosts].append(Cell(v, times))
    return {place: Curve(density, tuple(one)) for place, one in found.items()}


def _words(counts: Sequence[int]) -> str:
    return ", ".join(str(count) for count in counts)
