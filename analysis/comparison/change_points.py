"""Change points: the run at which a setting's rate changed its level, over many runs of a study.

Binary segmentation (Scott and Knott 1974) with a permutation test. A library such as ruptures needs a
penalty and has no known error rate. A level that returns within a few runs can be missed, because no
single split separates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from analysis.comparison.causes import differing
from analysis.findings.arms import rate_points
from analysis.statistics.interval import ratio_of_means
from analysis.statistics.power import ALPHA
from analysis.summary.summary import Summary
from workloads.base.values import Frozen

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
    """Changes of rate over runs, oldest first; none with fewer than 8 runs."""
    if len(summaries) < MIN_RUNS:
        return ()
    series = dict(_series(summaries))
    alpha = ALPHA / max(1, len(series))  # Bonferroni: without a change, at most 5 % report one
    found = []
    for subject, levels in series.items():
        changes = splits(levels, alpha)
        edges = [0, *(at for at, _ in changes), len(levels)]
        for (at, p), start, end in zip(changes, edges, edges[2:], strict=False):
            before, after = np.exp(levels[start:at]), np.exp(levels[at:end])
            ratio = ratio_of_means(before.tolist(), after.tolist())
            run, p = summaries[at].run, min(1.0, p * len(series))
            found.append(ChangePoint(subject=subject, run=run, ratio=ratio, p=p))
    return tuple(sorted(found, key=lambda change: change.run))


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


def _series(summaries: Sequence[Summary]) -> Iterator[tuple[str, Floats]]:
    """Mean logarithm of a run's builds, for each setting that is comparable in all runs."""
    by_run = [
        {(e.setting, e.topology): e for e in summary.settings if e.target_ops_s is None}
        for summary in summaries
    ]
    for key, last in by_run[-1].items():
        entries = [run[key] for run in by_run if key in run]
        points = [rate_points(entry) for entry in entries]
        if len(entries) < len(by_run) or differing(entries):
            continue
        if all(one and min(one) > 0 for one in points):
            means = [sum(map(log, one)) / len(one) for one in points]
            yield f"{last.label}, {last.topology}", np.array(means)
