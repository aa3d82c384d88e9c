"""Causes that last for a whole trial: what is beyond its equals, other trials, or any healthy level.

An equal is another disk, another host of the same role, or another daemon of the same kind. With three or
more, the others' median and median absolute deviation say what is usual; with two, only the ratio to the
other can, and it must be PAIR times as large. The latency of a disk or a server follows its load, so it is
compared with what a line through the others' seconds (logarithms of both) expects at its own load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from density_study.analysis.explanation.causes import Cause, held, of_signs, ranked, told
from density_study.analysis.explanation.course import (
    IDLE,
    NORMAL,
    Array,
    Course,
    Mask,
    Series,
    centre_and_spread,
    median_of_rows,
)
from density_study.analysis.explanation.rules import Limit, Sign, exceeds, rules

PAIR = 2.0
STEEPEST = 1.5  # exponent with which a latency follows its load
KNOWN = 0.5  # of the seconds, for a level
FEWEST_TRIALS = 5  # of a test case on a topology
FEWER = 0.9  # of the other trials' rate
LONGER = 1.5  # times their longest operations
SPREADS = 3.0


def of_peers(course: Course) -> tuple[Cause, ...]:
    """What is beyond its equals over the whole trial, the most specific cause first."""
    found = []
    for rule in rules().values():
        shown = [
            one for sign in rule.signs if sign.peers for one in _beyond(course, sign, sign.peers)
        ]
        cause = of_signs(rule, shown)
        found += [cause] if cause else []
    return ranked(found)


def _beyond(course: Course, sign: Sign, limit: Limit) -> Iterator[tuple[str, str]]:
    series = course.series
    rows = series.rows.get(sign.series, np.zeros(0, int))
    kinds: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        kinds.setdefault(course.kind_of(series.places[row]), []).append(row)
    for alike in kinds.values():
        equals = _working(course, np.array(alike, int), limit)
        value = series.medians[equals] if len(equals) else np.zeros(0)
        equals, value = equals[np.isfinite(value)], value[np.isfinite(value)]
        if len(equals) < 2:
            continue
        centre, spread = _of_others(value)
        if limit.load:
            expected = _expected(course, equals, limit.load)
            centre = np.where(np.isfinite(expected), expected, centre)
        factor = limit.factor * (PAIR if len(equals) == 2 else 1.0)
        down = np.full(len(equals), sign.down)
        beyond = exceeds(value, centre, spread, limit.least, factor, down)
        # where many are beyond, the others are no measure
        if 0 < beyond.sum() <= max(1, len(equals) // 3):
            known = np.full((2, len(series.places)), np.nan)
            known[:, equals] = value, centre
            among = "of its equals" + (" at its load" if limit.load else "")
            yield told(series, equals[beyond], known[0], known[1], among)


def _working(course: Course, rows: Array, limit: Limit) -> Array:
    """The rows whose load is like that of the others."""
    if not limit.load or not len(rows):
        return rows
    load = np.nan_to_num(_mean_load(course, rows, limit.load), nan=0.0)
    found: Array = rows[load >= IDLE * np.median(load)]
    return found


def _mean_load(course: Course, rows: Array, load: str) -> Array:
    found = np.full(len(rows), np.nan)
    means, at = course.series.means, course.series.loads(rows, load)
    found[at >= 0] = means[at[at >= 0]]
    return found


def _of_others(value: Array) -> tuple[Array, Array]:
    """For each value, the median of the others and their robust standard deviation."""
    others = np.broadcast_to(value, (len(value), len(value))).copy()
    np.fill_diagonal(others, np.nan)
    centre = median_of_rows(others)
    return centre, NORMAL * median_of_rows(np.abs(others - centre[:, None]))


def _expected(course: Course, rows: Array, load: str) -> Array:
    """Of each row the median that the others' seconds let expect at its load. NaN without loads."""
    at = course.series.loads(rows, load)
    latency = course.values[rows]
    loads = np.where((at >= 0)[:, None], course.values[at], np.nan)
    known = np.isfinite(latency) & np.isfinite(loads) & (latency > 0)
    y = np.log(np.where(known, latency, 1.0))
    x = np.where(known, np.log1p(np.maximum(loads, 0.0)), 0.0)
    sums = np.array([known.sum(1), x.sum(1), y.sum(1), (x * x).sum(1), (x * y).sum(1)])
    n, sx, sy, sxx, sxy = sums.sum(axis=1, keepdims=True) - sums  # of all rows but this one
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.clip(np.nan_to_num((n * sxy - sx * sy) / (n * sxx - sx * sx)), 0.0, STEEPEST)
        level = (sy - slope * sx) / n
    line = np.where(known, level[:, None] + slope[:, None] * x, np.nan)
    expected: Array = np.exp(median_of_rows(line))
    return expected


def of_level(course: Course) -> tuple[Cause, ...]:
    """What no healthy cluster has for a whole trial."""
    means, known = whole(course)
    value = np.where(known, means.values[:, 0], np.nan)
    found = []
    for rule in rules().values():
        shown = []
        for sign in rule.signs:
            rows = means.rows.get(sign.series, np.zeros(0, int))
            if sign.level is not None:
                beyond = value[rows] < sign.level if sign.down else value[rows] > sign.level
                limit = np.full(len(value), sign.level)
                shown += (
                    [told(means, rows[beyond], value, limit, "is the limit")]
                    if beyond.any()
                    else []
                )
        cause = of_signs(rule, shown)
        found += [cause] if cause else []
    return ranked(found)


def whole(course: Course) -> tuple[Series, Mask]:
    """Of each place its mean over the trial; whether it is known for long enough to be judged alone."""
    value = np.append(course.series.means, np.fromiter(course.facts.values(), float))
    seconds = np.isfinite(course.values).sum(axis=1)
    enough = np.append(seconds >= KNOWN * len(course.rate), np.full(len(course.facts), True))
    return Series((*course.series.places, *course.facts), value[:, None]), enough


@dataclass(frozen=True)
class Group:
    """The trials of one test case on one topology. values: a row per place, a column per trial."""

    series: Series
    rate: Array
    worst_ms: Array

    @staticmethod
    def of(courses: Sequence[Course]) -> Group:
        means = [whole(course)[0] for course in courses]
        every = dict.fromkeys(place for one in means for place in one.places)
        rows = {place: row for row, place in enumerate(every)}
        values = np.full((len(rows), len(courses)), np.nan)
        for column, one in enumerate(means):
            values[[rows[place] for place in one.places], column] = one.values[:, 0]
        return Group(
            Series(tuple(rows), values),
            np.array([float(np.mean(course.rate)) for course in courses]),
            np.array([centre_and_spread(course.worst_ms)[0] for course in courses]),
        )

    def slow(self, trial: int) -> str | None:
        """In words, how far it is slower than the others; None: it is not, or nobody can tell."""
        if len(self.rate) < FEWEST_TRIALS:
            return None
        others = f"the {len(self.rate) - 1} other trials"
        centre, spread = centre_and_spread(self.rate)
        rate = self.rate[trial]
        if rate < min(FEWER * centre, centre - SPREADS * spread):
            return f"the rate is {100 * (1 - rate / centre):.0f} % below that of {others}"
        centre, spread = centre_and_spread(self.worst_ms)
        worst_ms = self.worst_ms[trial]
        if worst_ms > max(LONGER * centre, centre + SPREADS * spread):
            return (
                f"the longest operation of its median second takes {worst_ms:,.0f} ms, {centre:,.0f} ms in "
                f"{others}"
            )
        return None

    def of_trial(self, trial: int) -> tuple[Cause, ...]:
        """What is unlike the other trials of the group, if the trial is slower than they are."""
        slow = self.slow(trial)
        if slow is None:
            return ()
        known = np.isfinite(self.series.values).sum(axis=1) >= FEWEST_TRIALS
        centre = np.where(known, median_of_rows(self.series.values), np.nan)
        spread = NORMAL * median_of_rows(np.abs(self.series.values - centre[:, None]))
        value = self.series.values[:, trial]
        found = held(self.series, "trials", value, centre, spread, "in the median trial")
        return ranked(Cause(c.rule, c.where, f"{c.evidence}; {slow}") for c in found)
