"""Legends as HTML over a figure, once, instead of one in each of its panels."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.report.charts.figure import LegendEntry
from analysis.report.charts.observations import Names
from analysis.report.charts.palette import Style, styles
from analysis.summary.summary import Summary


def arm_styles(summary: Summary, names: Names) -> dict[str, Style]:
    """The style of every arm of the run: an arm looks the same in every figure."""
    arms = {
        (setting.medium, setting.regionservers_per_node): setting for setting in summary.settings
    }
    return styles([names.arm(arms[key]) for key in sorted(arms)])


def legend(entries: dict[str, Style]) -> tuple[LegendEntry, ...]:
    return tuple(LegendEntry(label, style) for label, style in entries.items())


def point_notes(summary: Summary) -> tuple[str, ...]:
    """How to read marks, and which arms are stand-ins: said at every figure that shows them."""
    return tuple(_point_notes(summary))


def _point_notes(summary: Summary) -> Iterable[str]:
    if any(metric.low is not None for entry in summary.settings for metric in entry.metrics):
        yield (
            "Light points: one a build. Solid point: the setting's value, with its interval as a "
            "bar where there is one; a bar that cannot be seen is shorter than the point."
        )
    else:
        yield "One point a build. Too few builds for intervals, so differences are not claims."
