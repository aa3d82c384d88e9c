"""Estimates that a plan does not hold."""

from __future__ import annotations

from math import inf

ANALYSIS_ESTIMATE_S = 10.0
"""Seconds that the analysis of a run takes until it is under way. Measured: 7 s for ten trials."""


def whole_s(steps_s: float, budget_s: float | None) -> float:
    """Seconds of steps and of their analysis: no more than the budget, if there is one."""
    return min(steps_s + ANALYSIS_ESTIMATE_S, budget_s or inf)
