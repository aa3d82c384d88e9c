"""The accuracy goals, and the outcome of each on a hold-out: met, missed, or unknown (too few points)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from density_study.analysis.capacity.accuracy.hold_out import Miss, Mode
from density_study.analysis.capacity.accuracy.hold_out_load import LoadMiss
from density_study.analysis.capacity.curves.surface import FARTHEST
from density_study.analysis.capacity.inputs.point import grouped

Outcome = Literal["met", "missed", "unknown", "printed"]  # printed: a number without a goal
MEDIAN = {"hosts": 0.05, "largest": 0.08, "density": 0.05}
P90 = {"hosts": 0.15, "largest": 0.20}
COVERAGE = (0.85, 0.95)  # of nominal 90 % intervals: wider than necessary is also a fault
TIMES_BETTER = 1.0
CPU_POINTS = 5.0  # percent of the hosts' cores
LATENCY = 0.20
JUDGED_PERCENTILE = 95.0
SURE = 0.95  # confidence with which the points must contradict the band


@dataclass(frozen=True)
class Goal:
    name: str
    value: str
    goal: str
    outcome: Outcome


def judged(misses: Sequence[Miss], mode: Mode) -> tuple[Goal, ...]:
    """Each goal of the mode with its outcome. `misses` must not be empty."""
    near = [miss for miss in misses if miss.step <= FARTHEST]
    if len(near) < len(misses):  # no plan extrapolates so far
        return (*_beyond(misses), *(judged(near, mode) if near else ()))
    errors = np.array([miss.error for miss in misses])
    median, p90 = float(np.median(errors)), float(np.quantile(errors, 0.9))
    found = [
        _at_most("absolute error, median", median, MEDIAN[mode]),
        _at_most("absolute error, p90", p90, P90.get(mode)),
        *_supported(misses, P90.get(mode)),
        _coverage(misses),
    ]
    if mode == "hosts":
        found.append(_better(misses, median))
    return tuple(found)


def _beyond(misses: Sequence[Miss]) -> Iterator[Goal]:
    """The error where the largest count is more than FARTHEST times the next one."""
    far = np.array([miss.error for miss in misses if miss.step > FARTHEST])
    found = f"{_percent(float(np.median(far)))}, p90 {_percent(float(np.quantile(far, 0.9)))}"
    value = f"{found} of {len(far)} cells; no plan goes so far"
    yield Goal(f"error beyond {FARTHEST:g} times the counts, median", value, "", "printed")


def _supported(misses: Sequence[Miss], limit: float | None) -> Iterator[Goal]:
    """The same goal where the points support a number, and the measurement is known as well."""
    kept = [one.error for one in misses if one.is_supported]
    if limit is None or not kept:
        return
    p90 = float(np.quantile(kept, 0.9))
    name = "p90 where the points support a number"
    value = f"{_percent(p90)} of {len(kept) / len(misses):.0%} of the cells"
    yield Goal(name, value, f"<= {limit:.0%}", "met" if p90 <= limit else "missed")


def judged_under_load(misses: Sequence[LoadMiss]) -> tuple[Goal, ...]:
    """CPU and p95 of held-out densities: the worst density's median miss over its loads. None where not
    measured."""
    # p95 is judged at the CPU measured beside it where that is known: see hold_out_load
    of_cpu = [one for one in misses if one.quantity == "utilization"]
    p95 = [one for one in misses if one.percentile == JUDGED_PERCENTILE]
    at_busy = [one for one in p95 if one.busy is not None]
    at_load = [one for one in p95 if one.busy is None]
    judged_there = {one.place for one in at_busy}
    judged = [*at_busy, *(one for one in at_load if one.place not in judged_there)]
    found = [
        *_worst_density("CPU, worst density, points", of_cpu, "{:.1f}", CPU_POINTS),
        *_worst_density("p95 up to rho 0.8, worst density", judged, "{:.1%}", LATENCY),
    ]
    if at_busy:
        found += _worst_density("p95 from the load, worst density", at_load, "{:.1%}")
    return tuple(found)


def _worst_density(
    name: str, misses: Sequence[LoadMiss], form: str, limit: float | None = None
) -> list[Goal]:
    cells = grouped(misses, lambda miss: miss.place)
    if not cells:
        return []
    worst = max(float(np.median([one.miss for one in those])) for those in cells.values())
    if limit is None:
        return [Goal(name, form.format(worst), "", "printed")]
    outcome: Outcome = "met" if worst <= limit else "missed"
    return [Goal(name, form.format(worst), "<= " + form.format(limit), outcome)]


def _at_most(name: str, value: float, limit: float | None) -> Goal:
    if limit is None:
        return Goal(name, _percent(value), "", "printed")
    outcome: Outcome = "met" if value <= limit else "missed"
    return Goal(name, _percent(value), f"<= {limit:.0%}", outcome)


def _coverage(misses: Sequence[Miss]) -> Goal:
    """Missed only if the points contradict the band."""
    cells = len(misses)  # a cell counts once: its repetitions have a common error
    share = float(np.mean([miss.covered / miss.repetitions for miss in misses]))
    # Wilson's score interval: E. Wilson, J. American Statistical Association 22 (1927) 209. The usual normal
    # interval has no width at a share of 1, the likely outcome of few cells.
    interval = stats.binomtest(round(share * cells), cells).proportion_ci(SURE, "wilson")
    if COVERAGE[0] <= share <= COVERAGE[1]:
        outcome: Outcome = "met"
    else:
        outside = interval.high < COVERAGE[0] or interval.low > COVERAGE[1]
        outcome = "missed" if outside else "unknown"
    goal = f"{COVERAGE[0]:.0%} to {COVERAGE[1]:.0%}"
    return Goal("coverage of 90 % intervals", f"{share:.1%} of {cells} cells", goal, outcome)


def _better(misses: Sequence[Miss], median: float) -> Goal:
    baseline = [miss.baseline_error for miss in misses if miss.baseline_error is not None]
    naive = float(np.median(baseline))
    ratio = naive / median if median else float("inf")
    # Where 1/n itself is within the goal there is little left to beat, and noise decides the ratio.
    outcome: Outcome = "unknown" if naive <= MEDIAN["hosts"] else "missed"
    if ratio >= TIMES_BETTER:
        outcome = "met"
    value, goal = f"{ratio:.1f} times ({_percent(naive)} by 1/n)", f">= {TIMES_BETTER:g} times"
    return Goal("better than 1/n from the nearest count", value, goal, outcome)


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
