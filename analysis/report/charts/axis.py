"""Vertical axes: the unit above the axis, and a few round ticks, also on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from analysis.report.charts.palette import INK

TICKS = 4
_STEPS = (1.0, 2.0, 5.0)


def vertical(unit: str, domain: tuple[float, float] | None = None) -> Any:
    """The y channel of field `value`: from zero, with the unit above the axis instead of along it."""
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=True, nice=TICKS)
    return alt.Y("value:Q", scale=scale, axis=_axis(unit, tickCount=TICKS))


def vertical_log(unit: str, values: Sequence[float]) -> Any:
    """The y channel on a logarithmic scale that ends at round numbers around `values` (> 0)."""
    ticks = log_ticks(min(values), max(values))
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    return alt.Y("value:Q", scale=scale, axis=_axis(unit, values=ticks, format="~r"))


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers around both: 1, 2 and 5 times powers of ten, or only the powers if that is too many.

    The first is at most `low`, the last at least `high`, and there are at least two.
    """
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for steps in (_STEPS, (1.0,)):
        ticks = [round(step * 10.0**decade, 12) for decade in decades for step in steps]
        below = max(index for index, tick in enumerate(ticks) if tick <= low)
        above = min(index for index, tick in enumerate(ticks) if tick >= high and index > below)
        if above - below <= TICKS + 1:
            break
    return ticks[below : above + 1]


def _axis(unit: str, **ticks: Any) -> Any:
    return alt.Axis(
        title=unit,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleBaseline="bottom",
        titleX=-30,
        titleY=-9,
        titleColor=INK,
        labelOverlap=True,
        **ticks,
    )
