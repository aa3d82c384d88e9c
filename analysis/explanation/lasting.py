"""Causes that last for a whole trial: what is beyond its equals, other trials, or any healthy level.

An equal is another disk, another host of the same role, or another daemon of the same kind. With three or
more, the others' median and median absolute deviation say what is usual; with two, only the ratio to the
other can, and it must be PAIR times as large. The latency of a disk or a server follows its load, so it is
compared with what a line through the others' seconds (logarithms of both) expects at its own load. What is
only used more than its equals is not a cause: something must be late with it, there or in the whole trial
(`of_consequence`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from density_study.analysis.explanation.causes import (
    Cause,
    Judged,
    Shown,
    held,
    idle,
    judged,
    of_signs,
    ranked,
    strongest,
    told,
)
from density_study.analysis.explanation.chance import coincidences
from density_study.analysis.explanation.course import (
    IDLE,
    NORMAL,
    Array,
    Course,
    Mask,
    Series,
    Usual,
    centre_and_spread,
    deepest,
    mean_of_rows,
    median_of_rows,
    touch,
)
from density_study.analysis.explanation.rules import SPREADS, Limit, Sign, margins, rules
from density_study.analysis.explanation.words import named

PAIR = 2.0
STEEPEST = 1.5  # exponent with which a latency follows its load
ZERO = 0.05  # of the least difference that counts
HALF = 0.5
KNOWN = 0.5  # of the seconds, for a level
FEWEST_TRIALS = 5  # of a test case on a topology
FEWEST_NORMAL = 3  # of them that are not slow
FEWER = 0.9  # of the other trials' rate
LONGER = 1.5  # times their longest operations
LONGER_MEAN = 2.0  # times their mean: at a target rate, all operations may be later and none late
DEVIATIONS = 3.0


def of_peers(course: Course) -> tuple[Cause, ...]:
    """Causes that show over the whole trial in one host, disk or daemon beside its equals, in the order of
    the rules."""
    shown = {
        rule: [s for sign in rule.signs if sign.peers for s in _beyond(course, sign, sign.peers)]
        for rule in rules().values()
    }
    return tuple(cause for rule, texts in shown.items() if (cause := of_signs(rule, texts)))


def of_consequence(found: Sequence[Cause], course: Course) -> tuple[Cause, ...]:
    """The causes by `of_peers` that make something late where they are: mere use is not a fault, and
    healthy equals are used unevenly."""
    late = [
        place for cause in found for place in cause.places if named()[place.quantity][1] == "ms"
    ]
    return tuple(
        cause
        for cause in found
        if any(touch(here, there, course.roles) for here in cause.places for there in late)
    )


def _beyond(course: Course, sign: Sign, limit: Limit) -> Iterator[Shown]:
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
        # healthy equals differ by factors: the spread is that of logarithms, and nothing is less than `zero`
        zero = ZERO * limit.least
        logs = np.log(np.maximum(value, zero))
        centre, spread = _of_others(logs)
        if (
            limit.load and named()[sign.series][1] != "percent"
        ):  # a share does not grow with its load
            expected = np.log(np.maximum(_expected(course, equals, limit.load), zero))
            centre = np.where(np.isfinite(expected), expected, centre)
            _, spread = _of_others(logs - centre)
        factor = limit.factor * (PAIR if len(equals) == 2 else 1.0)
        down, none = np.full(len(equals), sign.down), np.zeros(len(equals))
        far = np.abs(logs - centre) > SPREADS * spread
        centre = np.exp(centre)
        beyond = far & (margins(value, centre, none, limit.least, factor, down) > 1)
        beyond &= value >= limit.floor
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
    """For each row the median that the others' seconds let expect at its load. NaN without loads."""
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


def of_level(course: Course, usual: Usual) -> tuple[Cause, ...]:
    """Causes that show in values which no healthy cluster has for a whole trial, in the order of the rules. A
    cause that lasts must show also in the seconds in which nothing is slow."""
    means, known = whole(course)
    calm = usual.seconds if usual.seconds.mean() >= KNOWN else np.full(len(course.rate), True)
    value = np.where(known, mean_of_rows(course.values[:, calm]), np.nan)
    found = []
    for rule in rules().values():
        shown = []
        for sign in rule.signs:
            rows = means.rows.get(sign.series, np.zeros(0, int))
            if sign.level is not None:
                beyond = value[rows] < sign.level if sign.down else value[rows] > sign.level
                if sign.stalls:
                    beyond &= _stalls(course, course.values[rows] > sign.level)
                limit = np.full(len(value), sign.level)
                shown += (
                    [told(means, rows[beyond], value, limit, "is the limit")]
                    if beyond.any()
                    else []
                )
        cause = of_signs(rule, shown)
        found += [cause] if cause else []
    return tuple(found)


def _stalls(course: Course, beyond: Mask) -> Mask:
    """For each row of `beyond` whether less than HALF of the work is done in those seconds; also if there are
    no others."""
    rate = np.where(course.working, course.rate, np.nan)
    then, else_ = (mean_of_rows(np.where(at, rate, np.nan)) for at in (beyond, ~beyond))
    found: Mask = ~(then >= HALF * else_)
    return found


def whole(course: Course) -> tuple[Series, Mask]:
    """The mean of each place over the trial, and a mask (places,) of those that were known long enough for a
    judgement."""
    seconds = np.isfinite(course.values).sum(axis=1)
    means = Series(course.series.places, course.series.means[:, None])
    return means, seconds >= KNOWN * len(course.rate)


@dataclass(frozen=True)
class Group:
    """The trials of one test case on one topology. values: a row per place, a column per trial: what lasted
    in it."""

    series: Series
    rate: Array
    worst_ms: Array
    mean_ms: Array
    nodes: Container[str]

    @staticmethod
    def of(courses: Sequence[Course]) -> Group:
        sampled = [course.series for course in courses]
        every = dict.fromkeys(place for series in sampled for place in series.places)
        rows = {place: row for row, place in enumerate(every)}
        values = np.full((len(rows), len(courses)), np.nan)
        for column, series in enumerate(sampled):
            values[[rows[place] for place in series.places], column] = series.lasting_means
        return Group(
            Series(tuple(rows), values),
            np.array([float(np.mean(course.rate)) for course in courses]),
            np.array([centre_and_spread(course.worst_ms)[0] for course in courses]),
            np.array([centre_and_spread(course.mean_ms)[0] for course in courses]),
            {name for course in courses for name in course.roles},
        )

    @property
    def is_known(self) -> bool:
        """Whether there are enough trials to tell which is slow."""
        return len(self.rate) >= FEWEST_TRIALS

    def slow(self, trial: int) -> str | None:
        """In words, how far it is slower than the others; None: it is not, or nobody can tell."""
        if not self.is_known:
            return None
        others = f"the {len(self.rate) - 1} other trials"
        centre, spread = centre_and_spread(self.rate)
        rate = self.rate[trial]
        if rate < min(FEWER * centre, centre - DEVIATIONS * spread):
            return f"the rate is {100 * (1 - rate / centre):.0f} % below that of {others}"
        for times_ms, longer, words in (
            (self.worst_ms, LONGER,
             "the longest operation of its median second takes {:,.0f} ms, {:,.0f} ms"),
            (self.mean_ms, LONGER_MEAN,
             "an operation of its median second takes {:,.1f} ms on average, {:,.1f} ms"),
        ):  # fmt: skip
            centre, spread = centre_and_spread(times_ms)
            if times_ms[trial] > max(longer * centre, centre + DEVIATIONS * spread):
                return f"{words.format(times_ms[trial], centre)} in {others}"
        return None

    def depth(self, trial: int) -> float:
        """Natural logarithm of how many times slower it is than the median trial: by its rate, or by its
        longest operations if that is more."""
        rates, longest = (centre_and_spread(one)[0] for one in (self.rate, self.worst_ms))
        return deepest(rates, self.rate[trial], self.worst_ms[trial], longest)

    def is_of_few(self, trial: int, cause: Cause) -> bool:
        """Whether it shows first in a share of hardly anything: less than IDLE of the load that it has in the
        trials that are not slow."""
        first, (centre, _) = cause.places[0], self._usual
        rows = self.series.rows.get(first.quantity, np.zeros(0, int))
        rows = rows[[self.series.places[row] == first for row in rows]]
        value = self.series.values[:, [trial]]
        return named()[first.quantity][1] == "percent" and any(
            idle(self.series, sign.peers.load, rows, value, centre).any()
            for sign in cause.rule.signs
            if sign.peers and sign.series == first.quantity
        )

    def of_trial(self, trial: int) -> tuple[Cause, ...]:
        """What is unlike the trials of the group that are not slow, if this one is; no coincidence."""
        slow = self.slow(trial)
        if slow is None:
            return ()
        value = self.series.values[:, [trial]]
        here, others = (list(self._judged(one)) for one in (value, self._normal))
        windows = strongest(others, self._normal.shape[1])
        most = {rule: float(margin[0]) for rule, margin in strongest(here, 1).items()}
        centre, _ = self._usual
        among = "in the median trial"
        by_chance = coincidences(most, windows)
        rate, _ = centre_and_spread(self.rate)
        lost = max(0.0, 1 - self.rate[trial] / rate)
        found = held(self.series, here, by_chance, value[:, 0], centre, among, lost)
        return ranked((replace(c, evidence=f"{c.evidence}; {slow}") for c in found), self.nodes)

    def _judged(self, value: Array) -> Iterator[Judged]:
        return judged(self.series, "trials", value, *self._usual)

    @cached_property
    def _normal(self) -> Array:
        """Values of the trials that are not slow."""
        return self.series.values[:, [self.slow(n) is None for n in range(len(self.rate))]]

    @cached_property
    def _usual(self) -> tuple[Array, Array]:
        """Median and robust standard deviation of each row among those; NaN where too few are known."""
        values = self._normal
        known = np.isfinite(values).sum(axis=1) >= FEWEST_NORMAL
        centre = np.where(known, median_of_rows(values), np.nan)
        return centre, NORMAL * median_of_rows(np.abs(values - centre[:, None]))
