"""Hold-out: leave measured points out, predict them from the rest, and compare the misses with goals.

Cross-validation (M. Stone 1974, Cross-validatory choice and assessment of statistical predictions). A
round leaves out one host count (or density) of every group at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.prediction import LEVEL, SUPPORTED
from density_study.analysis.capacity.curves.surface import (
    Forecast,
    NotMeasuredError,
    Surface,
    surfaces,
)
from density_study.analysis.capacity.inputs.point import Point, Variant, grouped, sizes
from density_study.cluster.model.errors import InputError

Mode = Literal["hosts", "density", "largest"]
Key = tuple[str, str]
MIN_LEFT = {"hosts": 3, "density": 2, "largest": 3}  # host counts or densities that must remain


@dataclass(frozen=True)
class Miss:
    """A held-out cell: levels in seconds of work time, `covered` of its `measured` repetitions.
    level_error: standard error of the measured level in log, 0 with one repetition. step: the held-out
    count over the largest that was left. is_near: whether the left counts allow a number."""

    group: str
    disk_type: str
    hosts: int
    vms_per_host: int
    measured_s: float
    predicted_s: float
    low_s: float
    high_s: float
    repetitions: int
    covered: int
    one_over_n_s: float | None
    unit: str = "s"
    level_error: float = 0.0
    step: float = 1.0
    is_near: bool = True

    @property
    def variant(self) -> Variant:
        return (self.group, self.disk_type, self.vms_per_host)

    def shown(self, seconds: float) -> float:
        """A work time in the measured unit; a rate if a rate was measured."""
        return seconds if self.unit == "s" else 1.0 / seconds

    @property
    def error(self) -> float:
        """|predicted / measured - 1|."""
        return abs(self.predicted_s / self.measured_s - 1)

    @property
    def is_supported(self) -> bool:
        """Whether the points support both numbers: the prediction, and the level that judges it."""
        # repetitions that differ by factors show that one of them is wrong, not which
        own = float(np.expm1(stats.norm.ppf(0.5 + LEVEL / 2) * self.level_error))
        return self.is_near and max(own, self.high_s / self.predicted_s - 1) <= SUPPORTED

    @property
    def baseline_error(self) -> float | None:
        found = self.one_over_n_s
        return None if found is None else abs(found / self.measured_s - 1)


def hold_out(points: Sequence[Point], mode: Mode) -> tuple[Miss, ...]:
    """Predictions of every cell that can be held out. InputError if there is none."""
    used = sizes(points)
    misses = [miss for held in _rounds(used, mode) for miss in _predicted(used, held, mode)]
    if not misses:
        raise _too_few(used, mode)
    return tuple(misses)


def _rounds(points: Sequence[Point], mode: Mode) -> Iterator[dict[Key, int]]:
    """For each round, the host count or density that each group holds out."""
    groups = grouped(points, lambda point: (point.group, point.disk_type))
    # 0 is the bare host, which is not on the curve over densities
    levels = {key: sorted({_level(p, mode) for p in found} - {0}) for key, found in groups.items()}
    ordered = {key: values for key, values in levels.items() if len(values) > MIN_LEFT[mode]}
    if mode == "largest":
        if ordered:
            yield {key: values[-1] for key, values in ordered.items()}
        return
    # The places inside, one per round: the first and last would test extrapolation, not interpolation.
    rounds = max((len(values) - 2 for values in ordered.values()), default=0)
    for place in range(1, rounds + 1):
        yield {key: values[place] for key, values in ordered.items() if place < len(values) - 1}


def _predicted(points: Sequence[Point], held: dict[Key, int], mode: Mode) -> Iterator[Miss]:
    def is_held(point: Point) -> bool:
        return held.get((point.group, point.disk_type)) == _level(point, mode)

    # Everything is learnt anew, noise and widths too: what saw the held-out cells would flatter itself.
    left = surfaces(point for point in points if not is_held(point))
    cells = grouped(filter(is_held, points), lambda point: point.place)
    for (group, disk_type, hosts, v), found in cells.items():
        surface = left.get((group, disk_type))
        if surface is None or not _fair(surface, v, hosts, mode):
            continue
        try:
            forecast = surface.forecast(np.array([float(hosts)]), v)
        except NotMeasuredError:
            continue
        yield _miss(surface, found, forecast)


def _level(point: Point, mode: Mode) -> int:
    """The point's place on the axis of the mode."""
    return point.vms_per_host if mode == "density" else point.hosts


def _fair(surface: Surface, v: int, hosts: int, mode: Mode) -> bool:
    """Whether the variant surrounds the held-out place, as the mode's name says."""
    if mode == "density":
        measured = [d for d, curve in surface.variants.items() if hosts in curve.x.astype(int)]
        return bool(measured) and min(measured) < v < max(measured)
    curve = surface.variants.get(v)
    if curve is None or len(curve.cells) < MIN_LEFT[mode]:
        return False
    inside = bool(curve.x[0] < hosts < curve.x[-1])
    return inside if mode == "hosts" else bool(hosts > curve.x[-1])


def _miss(surface: Surface, found: Sequence[Point], forecast: Forecast) -> Miss:
    times = np.array([point.work_time_s for point in found])
    centre = float(forecast.prediction.log_time[0])
    half = forecast.prediction.half_width(0)
    first, logs = found[0], np.log(times)
    curve = surface.variants.get(first.vms_per_host)
    return Miss(
        group=first.group,
        disk_type=first.disk_type,
        hosts=first.hosts,
        vms_per_host=first.vms_per_host,
        measured_s=float(np.exp(np.median(logs))),  # work times and rates alike
        predicted_s=float(np.exp(centre)),
        low_s=float(np.exp(centre - half)),
        high_s=float(np.exp(centre + half)),
        repetitions=len(times),
        covered=int((np.abs(logs - centre) <= half).sum()),
        one_over_n_s=_one_over_n(surface, first),
        unit=first.unit,
        level_error=_level_error(logs),
        step=1.0 if curve is None else first.hosts / float(curve.x[-1]),
        is_near=curve is None or curve.is_near(first.hosts),
    )


def _level_error(logs: Floats) -> float:
    """Standard error of the median, by the median absolute deviation (Rousseeuw and Croux 1993)."""
    return float(1.4826 * np.median(np.abs(logs - np.median(logs))) / np.sqrt(len(logs)))


def _one_over_n(surface: Surface, point: Point) -> float | None:
    """Baseline: T = b/n from the nearest remaining host count, the larger of two."""
    curve = surface.variants.get(point.vms_per_host)
    if curve is None:
        return None
    apart = np.abs(np.log(curve.x / point.hosts))
    # reversed, because argmin takes the first of equals; rounded, so that 2 and 8 are equally far from 4
    nearest = len(apart) - 1 - int(np.argmin(np.round(apart[::-1], 9)))
    return float(curve.levels[nearest] * curve.x[nearest] / point.hosts)


def left_out(
    points: Sequence[Point], misses: Sequence[Miss], mode: Mode
) -> tuple[tuple[Variant, str], ...]:
    """Every variant without a predicted cell, and why."""
    seen = {miss.variant for miss in misses}
    variants = grouped(sizes(points), lambda point: point.variant)
    return tuple(
        (variant, _reason(found, mode))
        for variant, found in variants.items()
        if variant not in seen
    )


def _reason(points: Sequence[Point], mode: Mode) -> str:
    if mode == "density":
        return "no measured density on both sides of it at equal hosts"
    words = ", ".join(str(count) for count in sorted({point.hosts for point in points}))
    return f"host counts {words}: 4 or more are needed"


def _too_few(points: Sequence[Point], mode: Mode) -> InputError:
    one, many = ("density", "densities") if mode == "density" else ("host count", "host counts")
    counts = {_level(point, mode) for point in points}
    fault = f"every group has too few {many} to hold one out and predict it from the rest."
    if len(counts) == 1:
        fault = f"the points have only one {one} ({counts.pop()}), so nothing can be held out."
    remedy = "measure 4 host counts or more in each group, for example 2, 4, 8 and 16 hosts."
    if mode == "density":
        remedy = "measure 3 densities or more at equal hosts, for example 1, 2 and 4 VMs per host."
    return InputError(fault, "the points", remedy)
