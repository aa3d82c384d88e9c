"""How long a measured window needs to be: what its own seconds add to the variance between builds.

Windows are chosen before a run and are equal in all variants. A trial that ended by its own data would have a
rate that depends on when it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, sqrt
from statistics import fmean, median, stdev

from density_study.analysis.findings.budget import SHORTEST_S
from density_study.analysis.summary.series import TrialSeries
from density_study.analysis.summary.summary import Summary
from density_study.workloads.planning.plan import Plan

FAR_BELOW = 0.1
"""A window whose seconds add less than this share to the variance between builds is longer than it needs to
be."""
_BATCHES = 8
"""Means of so many pieces of a window: neighbouring seconds are alike, so seconds would promise too much."""


def second_seen(summaries: Sequence[Summary]) -> float | None:
    """Standard deviation of the logarithm of one second's rate, as if seconds were independent; the median
    over the trials of earlier runs. None if no run kept a course."""
    found = [one for run in summaries for trial in run.series for one in _second(trial)]
    return median(found) if found else None


def _second(trial: TrialSeries) -> Iterator[float]:
    for one in trial.rates:
        points = [rate for rate in one.rate[len(one.rate) // 3 :] if rate]  # after the ramp-up
        size = len(points) // _BATCHES
        if one.name == "operations" and size:
            means = [fmean(points[n * size : (n + 1) * size]) for n in range(_BATCHES)]
            yield stdev(map(log, means)) * sqrt(size * trial.step_s)


def between_builds(noise: float, second: float, window_s: float) -> float:
    """Standard deviation that builds have without the noise of their windows, which `noise` contains; at
    least half of `noise`."""
    return sqrt(max((noise / 2) ** 2, noise**2 - second**2 / window_s))


def enough_s(between: float, second: float) -> float:
    """The shortest window whose seconds add `FAR_BELOW` of the variance between builds."""
    return max(SHORTEST_S, second**2 / (FAR_BELOW * between**2))


def window_lines(plan: Plan, noise: float, second: float | None) -> Iterator[str]:
    """What windows that are longer than they need to be cost. Nothing without earlier runs that tell."""
    windows = [step.test_case.adjustable_s for step in plan.trials if step.test_case]
    windows = [seconds for seconds in windows if seconds]
    if second is None or not windows:
        return
    longest = max(windows)
    enough = enough_s(between_builds(noise, second, longest), second)
    spared_s = sum(max(0.0, seconds - enough) for seconds in windows)
    if enough < 0.8 * longest:
        yield (
            f"windows of {longest:.0f} s are longer than they need to be: in {enough:.0f} s, seconds add "
            f"{FAR_BELOW:.0%} to the variance between builds; that saves {spared_s / 3600:.1f} h, and "
            "--budget chooses such windows"
        )
