"""Change points: the run at which a setting's rate changed its level, over many runs of a study.

Binary segmentation (Scott and Knott 1974) with a permutation test. A library such as ruptures needs a
penalty and has no known error rate. A level that returns within a few runs can be missed, because no
single split separates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from density_study.analysis.comparison.causes import differing
from density_study.analysis.findings.arms import rate_points
from density_study.analysis.statistics.interval import ratio_of_means
from density_study.analysis.statistics.power import ALPHA
from density_study.analysis.summary.summary import SettingSummary, Summary
from density_study.workloads.base.values import Frozen

MIN_RUNS = 8
MIN_PART = 3  # runs on each side of a change
PERMUTATIONS = 999  # with the observed order 1000, so the smallest p is 0.001
Floats = NDArray[np.float64]


class ChangePoint(Frozen):
    """The first run at a new level of a rate. `ratio`: level after over level before."""

    subject: str
    run: str
    ratio: float
    p: float = Field(description="by permutation, Bonferroni over all series")


def change_points(summaries: Sequence[Summary]) -> tuple[ChangePoint, ...]:
    """Changes of rate over runs, oldest first.

    Each setting of the newest run is searched over the runs that measured it with the same parameters;
    with fewer than 8 of these, no change can be found.
    """
    every = list(_series(summaries))
    alpha = ALPHA / max(1, len(every))  # Bonferroni: without a change, at most 5 % report one
    found = []
    for one in every:
        changes = splits(one.levels, alpha)
        edges = [0, *(at for at, _ in changes), len(one.levels)]
        for (at, p), start, end in zip(changes, edges, edges[2:], strict=False):
            before, after = np.exp(one.levels[start:at]), np.exp(one.levels[at:end])
            ratio = ratio_of_means(before.tolist(), after.tolist())
            run, p = one.runs[at], min(1.0, p * len(every))
            found.append(ChangePoint(subject=one.subject, run=run, ratio=ratio, p=p))
    return tuple(sorted(found, key=lambda change: change.run))


def subject_of(entry: SettingSummary) -> str:
    """What a change point of this setting is called."""
    return f"{entry.label}, {entry.topology}"


def splits(levels: Floats, alpha: float = ALPHA) -> list[tuple[int, float]]:
    """(index of the first run at the new level, p) of each change, ascending."""
    return sorted(_split(levels, 0, alpha))


def _split(levels: Floats, offset: int, alpha: float) -> Iterator[tuple[int, float]]:
    if len(levels) < 2 * MIN_PART or np.ptp(levels) == 0:
        return
    statistics = _statistics(levels[None, :])[0]
    best = int(statistics.argmax())
    rng = np.random.default_rng(len(levels))  # equal series give equal results
    shuffled = rng.permuted(np.tile(levels, (PERMUTATIONS, 1)), axis=1)
    least = statistics[best] - 1e-9  # equal but for rounding counts as equal
    # The largest t over all splits, in every order: a t test at the best split would ignore the search.
    # p includes the observed order, (1 + b) / (1 + m), so it is never 0 (Phipson and Smyth 2010).
    p = (1 + int((_statistics(shuffled).max(axis=1) >= least).sum())) / (PERMUTATIONS + 1)
    if p > alpha:
        return
    at = best + MIN_PART
    yield offset + at, p
    yield from _split(levels[:at], offset, alpha)
    yield from _split(levels[at:], offset + at, alpha)


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
    """Of one setting: the mean logarithm of the builds' rates in each of `runs`, oldest first."""

    subject: str
    runs: tuple[str, ...]
    levels: Floats


def _series(summaries: Sequence[Summary]) -> Iterator[_Series]:
    """Of each setting of the newest run that enough runs measured in the same way."""
    by_run = [
        (
            summary.run,
            {(e.setting, e.topology): e for e in summary.settings if e.target_ops_s is None},
        )
        for summary in summaries
    ]
    for key, last in by_run[-1][1].items() if by_run else ():
        means = {
            run: sum(map(log, points)) / len(points)
            for run, entries in by_run
            if key in entries and not differing((entries[key], last))
            if (points := rate_points(entries[key])) and min(points) > 0
        }
        if len(means) >= MIN_RUNS:
            yield _Series(subject_of(last), tuple(means), np.array(list(means.values())))
