"""Sums over samples by plain loops, and a window for them."""

from __future__ import annotations

import math

from density_study.workloads.rows.arrays.spans import MIN_S
from density_study.workloads.rows.raw.trial_context import TrialFacts

START_S, END_S, PERIOD_S, OFFSET_S = 1.5e9, 1.5e9 + 12.5, 1.0, 0.25
WINDOW = (START_S, END_S)
FACTS = TrialFacts(
    WINDOW, OFFSET_S, PERIOD_S, 2.0, {"w1": "node:w1", "c1": "client", "c2": "client"}
)
RUNS = range(30)


def whole(values: list[float], steps: float = 1e9) -> float:
    """The sum in whole numbers of 1/steps, halves to even."""
    return sum(round(value * steps) for value in values) / steps


def parts(since_s: float, until_s: float) -> list[tuple[int, float]]:
    """(second, its share) of a span; slivers under half a millisecond are rounding."""
    since, until = since_s - START_S, until_s - START_S
    seconds = range(math.floor(since), math.floor(until) + 1)
    inside = [(second, min(until, second + 1) - max(since, second)) for second in seconds]
    return [(second, inside_s) for second, inside_s in inside if inside_s >= MIN_S]
