"""How much a number varies between runs in which nothing changed, and what the newest runs say against that.

The unit is the run: its builds share the state of the machine in that night, so forty builds of five nights
are five units. The variation is taken from the earlier runs themselves, as the deviations of each from the
runs before it. So whatever makes neighbouring runs alike, or lets them drift, is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from density_study.analysis.statistics.power import ALPHA, FALSE_ALARM, TOGETHER

REMEMBERED = 60
"""Newest earlier runs that tell the variation."""
_MIN_COMMON = 7  # deviations that tell how alike the numbers of a run vary
_MIN_ALIKE = 30  # deviations that tell how alike neighbouring runs are
_MOST_ALIKE = 0.9
_TINY = 1e-9


@dataclass(frozen=True)
class Course:
    """One number over runs, oldest first, the newest one last: logarithms of the runs' means, turned so that
    lower is worse. `start`: the first run at an acknowledged level. `errors`: the standard error of each
    run's mean, from its builds; empty: alike."""

    runs: tuple[str, ...]
    levels: tuple[float, ...]
    start: int = 0
    errors: tuple[float, ...] = ()

    def builds(self, runs: Sequence[int]) -> float:
        """Variance of the mean of these runs, by its builds."""
        return sum(self.errors[n] ** 2 for n in runs) / len(runs) ** 2 if self.errors else 0.0

    @property
    def usual(self) -> float:
        """Variance of an earlier run's mean, by its builds."""
        earlier = self.errors[:-1]
        return sum(error**2 for error in earlier) / len(earlier) if earlier else 0.0


@dataclass(frozen=True)
class Judged:
    """The newest `together` runs over what `base` leads to expect, as logarithms: its mean, moved by the
    share `memory` of the way to its last run.

    within: p of "the change is within the tolerance". same: p of "nothing changed", for all numbers of the
    run together. names: the smallest drop that would be called a regression.
    """

    base: tuple[str, ...]
    together: int
    memory: float
    change: float
    low: float
    high: float
    same_raw: float
    same: float
    within: float
    names: float

    @property
    def is_slower(self) -> bool:
        return self.same <= FALSE_ALARM and self.change < 0

    @property
    def is_regression(self) -> bool:
        return self.is_slower and self.within <= ALPHA

    @property
    def is_faster(self) -> bool:
        return self.same <= FALSE_ALARM and self.change > 0


def judge(
    courses: Mapping[str, Course], before: Sequence[str], rolling: bool, tolerance: float
) -> dict[str, Judged | None]:
    """What is judged of each number, by its name; None while the variation between runs is unknown, which
    needs two earlier runs. before: the runs of the baseline. rolling: they are those right before the newest
    run."""
    windows = len(before)
    deviations = {name: _deviations(one, 1, windows) for name, one in courses.items()}
    numbers = _independent(list(deviations.values()))
    fixed = before if not rolling else ()
    return {
        name: _newest(one, deviations[name], fixed, windows, numbers, tolerance)
        for name, one in courses.items()
    }


def _newest(
    one: Course,
    deviations: Mapping[str, _Deviation],
    fixed: Sequence[str],
    window: int,
    numbers: float,
    tolerance: float,
) -> Judged | None:
    tests = numbers * len(TOGETHER)
    found = [
        judged
        for together in TOGETHER
        if (judged := _judged(one, deviations, together, fixed, window, tests, tolerance))
        is not None
    ]
    # only the newest run, unless several together are slower
    return next((judged for judged in found if judged.is_regression), found[0] if found else None)


def _judged(
    one: Course,
    deviations: Mapping[str, _Deviation],
    together: int,
    fixed: Sequence[str],
    window: int,
    tests: float,
    tolerance: float,
) -> Judged | None:
    """deviations: those of the single runs."""
    end = len(one.levels)
    begin = end - together
    base = [n for n in range(begin) if one.runs[n] in fixed and n >= one.start]
    if not base:
        base = list(range(max(one.start, begin - window), begin))
    if not base or not deviations or max(base) >= begin:
        return None
    several = deviations if together == 1 else _deviations(one, together, window)
    is_rolling = max(base) == begin - 1
    memory = _memory(several.values()) if is_rolling else 0.0
    spread = _rms(_left(deviations.values(), _memory(deviations.values()) if is_rolling else 0.0))
    if together > 1:  # nights that are alike make the mean of several no more certain than one
        spread = max(spread, _rms(_left(several.values(), memory)))
    if not is_rolling:  # as far apart as any two runs
        earlier = np.asarray(one.levels[one.start : end - 1])
        spread = max(spread, float(earlier.std(ddof=1)) if len(earlier) > 1 else 0.0)
    spread = max(spread, _TINY)
    # a run that lost builds is less certain than those that told the spread
    more = (max(0.0, one.builds(r) - one.usual / len(r)) for r in (range(begin, end), base))
    error = sqrt(spread**2 * (1 / together + 1 / len(base)) + sum(more))
    freedom = len(deviations) - bool(memory)
    levels = np.asarray(one.levels)
    middle = levels[base].mean()
    change = float(levels[begin:].mean() - middle - memory * (levels[begin - 1] - middle))
    allowed = log(1 - tolerance)
    half = float(special.stdtrit(freedom, 1 - ALPHA / 2)) * error
    raw = 2 * float(special.stdtr(freedom, -abs(change) / error))
    within = float(special.stdtr(freedom, (change - allowed) / error))
    needed = max(
        -allowed - float(special.stdtrit(freedom, ALPHA)) * error,
        -float(special.stdtrit(freedom, FALSE_ALARM / tests)) * error,
    )
    return Judged(
        base=tuple(one.runs[n] for n in base), together=together, memory=memory, change=change,
        low=change - half, high=change + half, same_raw=raw, same=min(1.0, raw / 2 * tests),
        within=within, names=1 - exp(-min(needed, 50.0)),
    )  # fmt: skip


class _Deviation(NamedTuple):
    """`own`: that of a run from the runs before it. `before`: that of the last of those from all of them."""

    own: float
    before: float


def _memory(deviations: Iterable[_Deviation]) -> float:
    """The share of its last run's deviation that a base predicts best with: 0 for independent nights, and
    until enough runs tell it. A regression through 0, less its standard error: what chance makes of
    independent nights would add false alarms."""
    found = tuple(deviations)
    squares = sum(one.before**2 for one in found)
    if len(found) < _MIN_ALIKE or squares <= 0:
        return 0.0
    slope = sum(one.own * one.before for one in found) / squares
    error = _rms(_left(found, slope)) / sqrt(squares)
    return min(max(slope - error, 0.0), _MOST_ALIKE)


def _left(deviations: Iterable[_Deviation], memory: float) -> list[float]:
    return [one.own - memory * one.before for one in deviations]


def _deviations(one: Course, together: int, window: int) -> dict[str, _Deviation]:
    """For each earlier run that has runs before it: the mean of it and the `together` - 1 before over that of
    the `window` runs before those, in units of one run's deviation if runs were independent.

    With independent runs these are recursive residuals, which are independent with the variance of a run
    (R. Brown, J. Durbin and J. Evans, J. Royal Statistical Society B 37 (1975)). Runs on two sides of an
    acknowledged change are not compared.
    """
    levels, found = one.levels, {}
    last = len(levels) - 1
    for at in range(max(together, last - REMEMBERED), last):
        begin = at - together + 1
        start = one.start if at >= one.start else 0
        base = levels[max(start, begin - window) : max(start, begin)]
        if base:
            mean = sum(levels[begin : at + 1]) / together
            size = sqrt(1 / together + 1 / len(base))
            middle = sum(base) / len(base)
            own, before = (mean - middle) / size, (base[-1] - middle) / size
            found[one.runs[at]] = _Deviation(own, before)
    return found


def _rms(values: Sequence[float]) -> float:
    return sqrt(sum(value**2 for value in values) / len(values)) if values else 0.0


def _independent(deviations: Sequence[Mapping[str, _Deviation]]) -> float:
    """How many independent numbers the numbers of a run are worth: of m equal ones, one.

    1 + (m - 1) (1 - r^2), with the mean correlation r between them (after D. Nyholt, American J. Human
    Genetics 74 (2004)): a slow night is slow for most test cases, and Bonferroni's correction over all would
    hide it.
    """
    count = len(deviations)
    common = set.intersection(*map(set, deviations)) if deviations else set()
    if count < 2 or len(common) < _MIN_COMMON:
        return float(max(count, 1))
    rows = np.array([[one[run].own for run in sorted(common)] for one in deviations])
    rows /= np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), _TINY)
    mean = (float((rows.sum(axis=0) ** 2).sum()) - count) / (count * (count - 1))
    return 1 + (count - 1) * (1 - min(max(mean, 0.0), 1.0) ** 2)


def night_effect(courses: Sequence[Course]) -> Iterator[float]:
    """Yields for each number the standard deviation between earlier runs that its builds do not explain."""
    for one in courses:
        deviations = _left(_deviations(one, 1, len(one.levels)).values(), 0.0)
        if deviations:
            yield sqrt(max(0.0, _rms(deviations) ** 2 - one.usual))
