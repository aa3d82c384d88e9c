"""A panel of curves: something against a number that was varied (readers, threads), a line a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from analysis.report.charts.axis import vertical, vertical_log
from analysis.report.charts.density import describe
from analysis.report.charts.figure import DATA, Panel, colour_scale, finished, shape_scale
from analysis.report.charts.observations import Observation, Row, value_row
from analysis.report.charts.palette import Style
from analysis.report.charts.quantity import digits, interval, quantity


@dataclass(frozen=True)
class CurveAxes:
    """What the panels of a figure share. `axis` is in words, `unit` of the vertical axis."""

    axis: str
    unit: str
    styles: dict[str, Style]
    log: bool = False
    height_px: int = 224


def curve_rows(seen: Sequence[tuple[float, Observation]], series: str, axis: str) -> list[Row]:
    """The points of one curve: (place on the horizontal axis, what stands there)."""
    rows = []
    for at, one in sorted(seen, key=lambda pair: pair[0]):
        row = value_row(one, {"series": series, "at": at})
        if row is not None:
            ends = interval(row.get("low"), row.get("high"), one.metric.unit)
            told = quantity(row["value"], one.metric.unit)
            spread = f" (interval {ends}; n = {one.metric.n})" if ends else f" (n = {one.metric.n})"
            rows.append({**row, "tip": f"{series}, {digits(at)} {axis}: {told}{spread}"})
    return rows


def curve_panel(id_: str, title: str, subtitle: str, rows: Sequence[Row], axes: CurveAxes) -> Panel:
    """Points joined by lines that only lead the eye; intervals are bars."""
    rows = list(rows)
    colour = alt.Color("series:N", scale=colour_scale(axes.styles), legend=None)
    place: dict[str, Any] = {"x": _across(rows, axes), "y": _upwards(rows, axes), "color": colour}
    base = alt.Chart()
    layers = [base.mark_line(strokeWidth=1.5, opacity=0.55).encode(**place)]
    if any("low" in row for row in rows):
        bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
        layers.append(bars.encode(**{**place, "y": alt.Y("low:Q"), "y2": "high:Q"}))
    shape = alt.Shape("series:N", scale=shape_scale(axes.styles), legend=None)
    points = base.mark_point(filled=True, size=56, opacity=1)
    layers.append(points.encode(**place, shape=shape, tooltip=alt.Tooltip("tip:N")))
    spec = finished(alt.layer(*layers, data=alt.NamedData(DATA)), rows, axes.height_px)
    said = describe(f"{title}, {subtitle}, in {axes.unit} by {axes.axis}", rows)
    return Panel(id_, title, subtitle, said, axes.height_px, spec)


def _across(rows: Sequence[Row], axes: CurveAxes) -> alt.X:
    """Linear, from zero, with a tick at each number that was tried: saturation shows as a bend."""
    ticks = sorted({row["at"] for row in rows})
    axis = alt.Axis(values=ticks, labelExpr="'' + datum.value", grid=False, labelOverlap=True)
    return alt.X("at:Q", title=axes.axis, scale=alt.Scale(zero=True, nice=False), axis=axis)


def _upwards(rows: Sequence[Row], axes: CurveAxes) -> Any:
    extent = [float(row[key]) for row in rows for key in ("value", "low", "high") if key in row]
    return vertical_log(axes.unit, extent) if axes.log and min(extent) > 0 else vertical(axes.unit)
