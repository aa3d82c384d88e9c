"""Change points: the run at which a test case's rate changed its level, over many runs of a study.

Binary segmentation (Scott and Knott 1974). Two things would make a permutation test call chance a change.
Many series: the largest statistic over all of them is compared (P. Westfall and S. Young, Resampling-based
multiple testing, 1993), with the same order of runs in all, as a slow night is slow for all. And nights
that resemble the night before: what is permuted is what remains after a first-order autoregression, which
is then put back. A library such as ruptures needs a penalty and has no known error rate. A level that
returns within a few runs can be missed, because no single split separates it. A study that looks after
every run looks more often than once: the 5 % are those of one look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import special

from density_study.analysis.comparison.causes import differing
from density_study.analysis.comparison.numbers import is_bound
from density_study.analysis.findings.variants import rate_points
from density_study.analysis.statistics.interval import ratio_of_means
from density_study.analysis.statistics.power import ALPHA
from density_study.analysis.summary.summary import Summary, TestCaseSummary
from density_study.workloads.base.values import Frozen

MIN_RUNS = 8
MIN_PART = 3  # runs on each side of a change
PERMUTATIONS = (
    499  # with the observed order 500, so the smallest p is 0.002, whatever the number of series
)
_MEMORIES = (0.0, 0.2, 0.4, 0.6, 0.75, 0.9)
_MOST = 0.9
Floats = NDArray[np.float64]


class ChangePoint(Frozen):
    """The first run at a new level of a rate. `ratio`: level after over level before."""

    subject: str
    run: str
    ratio: float
    p: float = Field(description="permutation p-value of the largest statistic over all series")


def change_points(summaries: Sequence[Summary]) -> tuple[ChangePoint, ...]:
    """Changes of rate over runs, oldest first.

    Each test case of the newest run is searched over the runs that measured it with the same parameters;
    with fewer than 8 of these, no change can be found.
    """
    every = list(_series(summaries))
    found = []
    for one, changes in zip(
        every, splits([s.levels for s in every], [s.runs for s in every]), strict=True
    ):
        edges = [0, *(at for at, _ in changes), len(one.levels)]
        for (at, p), start, end in zip(changes, edges, edges[2:], strict=False):
            before, after = np.exp(one.levels[start:at]), np.exp(one.levels[at:end])
            ratio = ratio_of_means(before.tolist(), after.tolist())
            found.append(ChangePoint(subject=one.subject, run=one.runs[at], ratio=ratio, p=p))
    return tuple(sorted(found, key=lambda change: change.run))


def subject_of(entry: TestCaseSummary) -> str:
    """What a change point of this test case is called."""
    return f"{entry.label}, {entry.topology}"


@dataclass(frozen=True)
class _Segment:
    """Runs `start` to `end` of a series without a known change. `runs` are numbers, equal in all series."""

    series: int
    start: int
    end: int
    levels: Floats
    runs: tuple[int, ...]


def splits(
    every: Sequence[Floats], runs: Sequence[tuple[str, ...]] | None = None
) -> list[list[tuple[int, float]]]:
    """For each series (index of the first run at the new level, p) of each change, ascending.

    runs: the names of the runs of each series; without them the series have the same runs.
    """
    names = runs or [tuple(f"{n:06d}" for n in range(len(levels))) for levels in every]
    numbers = {name: n for n, name in enumerate(sorted({name for one in names for name in one}))}
    found: list[list[tuple[int, float]]] = [[] for _ in every]
    segments = [
        _Segment(n, 0, len(levels), levels, tuple(numbers[name] for name in own))
        for n, (levels, own) in enumerate(zip(every, names, strict=True))
        if _can_split(levels)
    ]
    memory = _memory(segments)
    rng = np.random.default_rng(len(numbers))  # equal series give equal results
    while segments:
        parts: list[_Segment] = []
        for one, at, p in _changed(segments, memory, len(numbers), rng):
            found[one.series].append((one.start + at, p))
            parts += (
                _Segment(one.series, one.start, one.start + at, one.levels[:at], one.runs[:at]),
                _Segment(one.series, one.start + at, one.end, one.levels[at:], one.runs[at:]),
            )
        segments = [part for part in parts if _can_split(part.levels)]
    return [sorted(changes) for changes in found]


def _can_split(levels: Floats) -> bool:
    return len(levels) >= 2 * MIN_PART and float(np.ptp(levels)) > 0


def _changed(
    segments: Sequence[_Segment], memory: float, runs: int, rng: np.random.Generator
) -> Iterator[tuple[_Segment, int, float]]:
    """The segments with a change, its place in the segment, and p."""
    keys = rng.random((PERMUTATIONS, runs))  # one order of the runs for all series
    largest = np.full(PERMUTATIONS, -np.inf)
    seen = []
    for one in segments:
        statistic, at = _best(one.levels[None, :])
        drawn = _again(_rest(one.levels), memory, keys[:, one.runs].argsort(axis=1))
        largest = np.maximum(largest, _best(drawn)[0])
        seen.append((one, int(at[0]), float(statistic[0])))
    for one, place, observed in seen:
        # p includes the observed order, (1 + b) / (1 + m), so it is never 0 (Phipson and Smyth 2010)
        p = (1 + int((largest >= observed - 1e-9).sum())) / (PERMUTATIONS + 1)
        if p <= ALPHA:
            yield one, place, p


def _best(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The largest t over all splits of each row, as -log p of one split so that rows of several lengths
    compare, and the index of the first run after it."""
    t = _statistics(rows)
    at = t.argmax(axis=1)
    largest: Floats = -np.log(np.maximum(special.stdtr(rows.shape[1] - 2, -t.max(axis=1)), 1e-300))
    return largest, at + MIN_PART


def _rest(levels: Floats, again: bool = True) -> Floats:
    """Without the level before and after the best split, and within both parts once more."""
    if not _can_split(levels):
        rest: Floats = levels - levels.mean()
        return rest
    at = int(_best(levels[None, :])[1][0])
    parts = levels[:at], levels[at:]
    return np.concatenate([_rest(p, False) if again else p - p.mean() for p in parts])


def _again(rest: Floats, memory: float, orders: NDArray[np.intp]) -> Floats:
    """Series without a change: what an autoregression leaves of `rest`, in these orders, autoregressed
    again."""
    new = rest.copy()
    new[1:] -= memory * rest[:-1]
    new[0] *= sqrt(1 - memory**2)
    return _autoregressed(new[orders], memory)


def _autoregressed(news: Floats, memory: float) -> Floats:
    rows = news.copy()
    rows[:, 0] /= sqrt(1 - memory**2)
    for at in range(1, rows.shape[1]):
        rows[:, at] += memory * rows[:, at - 1]
    return rows


def _memory(segments: Sequence[_Segment]) -> float:
    """The coefficient of first order of all series together, with half a standard error added.

    The correlation of what remains after the best splits is too low; so the coefficient is the one whose
    simulated series show the same (C. Gourieroux, A. Monfort and E. Renault, J. Applied Econometrics 8
    (1993)).
    """
    if not segments:
        return 0.0
    found = []
    for length in {len(one.levels) for one in segments}:
        rows = [one.levels for one in segments if len(one.levels) == length]
        seen = sum(map(_correlation, rows)) / len(rows)
        memory = float(np.interp(seen, _shown(length), _MEMORIES)) + 0.5 / sqrt(length)
        found += [memory] * len(rows)
    return min(_MOST, sum(found) / len(found))


@cache
def _shown(length: int) -> tuple[float, ...]:
    """The mean correlation that series of each of `_MEMORIES` show."""
    news = np.random.default_rng(length).standard_normal((64, length))
    shown = []
    for memory in _MEMORIES:
        rows = _autoregressed(news, memory)
        shown.append(float(np.mean([_correlation(row) for row in rows])))
    return tuple(shown)


def _correlation(levels: Floats) -> float:
    rest = _rest(levels)
    return float((rest[1:] * rest[:-1]).sum() / max(float((rest**2).sum()), 1e-18))


def _statistics(rows: Floats) -> Floats:
    """Two-sample t: |difference of means| over its pooled standard error, for each row and split."""
    length = rows.shape[1]
    sizes = np.arange(MIN_PART, length - MIN_PART + 1)
    sums, squares = rows.cumsum(axis=1), (rows**2).cumsum(axis=1)
    before, before_squares = sums[:, sizes - 1], squares[:, sizes - 1]
    after, after_squares = sums[:, -1:] - before, squares[:, -1:] - before_squares
    # sum of squares around both means, from cumulative sums: all splits of all rows at once
    within = before_squares - before**2 / sizes + after_squares - after**2 / (length - sizes)
    error = np.sqrt(np.maximum(within, 1e-18) / (length - 2) * (1 / sizes + 1 / (length - sizes)))
    result: Floats = np.abs(after / (length - sizes) - before / sizes) / error
    return result


@dataclass(frozen=True)
class _Series:
    """For one test case: the mean logarithm of the builds' rates in each of `runs`, oldest first."""

    subject: str
    runs: tuple[str, ...]
    levels: Floats


def _series(summaries: Sequence[Summary]) -> Iterator[_Series]:
    """Yields a series for each test case of the newest run that enough runs measured in the same way."""
    by_run = [
        (
            summary,
            {(e.test_case, e.topology): e for e in summary.test_cases if e.target_ops_s is None},
        )
        for summary in summaries
    ]
    for key, last in by_run[-1][1].items() if by_run else ():
        means = {
            run.run: sum(map(log, points)) / len(points)
            for run, entries in by_run
            if key in entries and not is_bound(run, key) and not differing((entries[key], last))
            if (points := rate_points(entries[key])) and min(points) > 0
        }
        if len(means) >= MIN_RUNS:
            yield _Series(subject_of(last), tuple(means), np.array(list(means.values())))
