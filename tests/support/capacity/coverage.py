"""Coverage of nominal 90 % intervals on generated clusters, in four cells: {inside the measured counts, the
next count up} x {a file of many groups, each group alone}."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from density_study.analysis.capacity.accuracy.hold_out import Miss, Mode, hold_out
from density_study.analysis.capacity.inputs.point import Point
from tests.support.capacity.populations import measured, wild_truths

MODES: tuple[Mode, ...] = ("hosts", "largest")
DESIGNS = (
    ((1, 2, 4, 6, 8, 12), 3),
    ((2, 4, 6, 8, 10, 12), 5),
    ((2, 4, 8, 16), 3),
    ((2, 4, 6, 8, 12, 16), 1),
)
"""Host counts, repetitions: one file each."""


def coverage(clusters: int, seed: int) -> dict[tuple[Mode, str], float]:
    """Share of held-out repetitions within their interval, over all files, of `clusters` each."""
    by_cell: dict[tuple[Mode, str], list[Miss]] = defaultdict(list)
    for number, (hosts, repetitions) in enumerate(DESIGNS):
        truths = wild_truths(clusters, seed + number)
        points = measured(truths, hosts, seed + 50 + number, repetitions=repetitions)
        for mode in MODES:
            by_cell[mode, "file"] += hold_out(points, mode)
            for group in _groups(points):
                by_cell[mode, "alone"] += hold_out(group, mode)
    return {
        cell: float(np.mean([miss.covered / miss.repetitions for miss in misses]))
        for cell, misses in by_cell.items()
    }


def _groups(points: Sequence[Point]) -> list[list[Point]]:
    groups: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        groups[point.group].append(point)
    return list(groups.values())
