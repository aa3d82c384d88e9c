"""Colours and Vega's configuration. Colours are CSS variables: light, dark and print need no redraw.

The hues are Okabe and Ito's, which people with any common colour blindness can distinguish
(https://jfly.uni-koeln.de/color/). report.css defines each variable for light, dark and print;
the fallback after the comma applies to a chart copied out of the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from density_study.analysis.summary.summary import FindingVerdict

INK = "var(--ink, #1b1f24)"
MUTED = "var(--muted, #59626c)"
GRID = "var(--grid, #e4e7ea)"
PAPER = "var(--paper, #ffffff)"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'


@dataclass(frozen=True)
class Style:
    """Colour and shape together: each of them distinguishes two series."""

    colour: str
    shape: str = "circle"


SERIES = (
    Style("var(--series-1, #0072b2)", "circle"),
    Style("var(--series-2, #d55e00)", "square"),
    Style("var(--series-3, #009e73)", "triangle-up"),
    Style("var(--series-4, #cc79a7)", "diamond"),
    Style("var(--series-5, #e69f00)", "triangle-down"),
    Style("var(--series-6, #56b4e9)", "cross"),
)
CPU = {
    "user": Style("var(--cpu-user, #0072b2)", "square"),
    "system": Style("var(--cpu-system, #56b4e9)", "square"),
    "iowait": Style("var(--cpu-iowait, #cc8400)", "square"),
    "steal": Style("var(--cpu-steal, #d55e00)", "square"),
    "idle": Style("var(--cpu-idle, #dfe3e6)", "square"),
}
TIME = {
    "measuring": Style("var(--series-1, #0072b2)", "square"),
    "building": Style("var(--series-5, #e69f00)", "square"),
    "waiting": Style("var(--cpu-idle, #dfe3e6)", "square"),
    "analysing": Style("var(--series-3, #009e73)", "square"),
}
VERDICT: dict[FindingVerdict, Style] = {
    "confirmed": Style("var(--series-3, #009e73)", "circle"),
    "refuted": Style("var(--series-2, #d55e00)", "square"),
    "inconclusive": Style("var(--muted, #59626c)", "diamond"),
    "measured": Style("var(--series-1, #0072b2)", "triangle-up"),
}


def styles(labels: list[str]) -> dict[str, Style]:
    """A style for each label, in order. If there are more labels than styles, styles repeat."""
    return {label: SERIES[index % len(SERIES)] for index, label in enumerate(labels)}


def config(aria: bool = False) -> dict[str, Any]:
    """Vega-Lite's config. With `aria`, marks are labelled: `figure.Panel.svg` needs that."""
    axis = {
        "aria": False,
        "domain": False,
        "ticks": False,
        "grid": False,
        "gridColor": GRID,
        "labelColor": MUTED,
        "labelFontSize": 11,
        "labelPadding": 6,
        "titleColor": MUTED,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    return {
        "background": None,
        "aria": aria,  # the container describes the panel
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"domain": True, "domainColor": GRID, "labelAngle": 0, "labelOverlap": False},
        "axisY": {"grid": True},
        "style": {"guide-label": {"fill": MUTED}, "guide-title": {"fill": MUTED}},
    }
