"""The panel most figures are made of: something by density, a point a build, intervals beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from analysis.report.charts.axis import vertical, vertical_log
from analysis.report.charts.figure import DATA, Panel, colour_scale, finished, shape_scale
from analysis.report.charts.observations import Names, Observation, Row, point_rows
from analysis.report.charts.palette import PAPER, Style
from analysis.report.charts.quantity import interval, quantity
from analysis.summary.summary import Summary


@dataclass(frozen=True)
class Axes:
    """What panels of one figure share. `unit` stands over the vertical axis."""

    densities: tuple[str, ...]
    axis: str
    unit: str
    styles: dict[str, Style]
    log: bool = False
    height_px: int = 208


def densities(summary: Summary, names: Names) -> tuple[str, ...]:
    """Every density of the run, ascending: arms without a valid trial keep their place, empty."""
    seen = {setting.vms_per_host for setting in summary.settings}
    seen |= {trial.vms_per_host for trial in summary.trials}
    return tuple(names.density(vms_per_host) for vms_per_host in sorted(seen))


def rows_of(seen: Observation, names: Names, series: str, hollow: bool = False) -> list[Row]:
    """The rows of one metric for `panel`: its units, its value, and words for a tooltip."""
    setting = seen.setting
    where = f"{names.density_in_words(setting.vms_per_host)}, {series}"
    shared: Row = {
        "density": names.density(setting.vms_per_host),
        "series": series,
        "hollow": hollow,
    }
    rows = point_rows(seen, shared)
    for row in rows:
        row["slot"] = f"{series}/{row['part']}"
        row["tip"] = f"{where}: {quantity(row['value'], seen.metric.unit)}{_spread(row, seen)}"
    return rows


def _spread(row: Row, seen: Observation) -> str:
    ends = interval(row.get("low"), row.get("high"), seen.metric.unit)
    return f" (interval {ends}; n = {seen.metric.n})" if ends else ""


def panel(id_: str, title: str, subtitle: str, rows: Sequence[Row], axes: Axes) -> Panel:
    """One setting's panel. Units are light, the value over them is solid, its interval a bar."""
    rows = list(rows)
    chart = alt.layer(*_layers(rows, axes), data=alt.NamedData(DATA))
    return Panel(
        id=id_,
        title=title,
        subtitle=subtitle,
        description=describe(f"{title}, {subtitle}, in {axes.unit} by {axes.axis}", rows),
        height_px=axes.height_px,
        spec=finished(chart, rows, axes.height_px),
    )


def describe(what: str, rows: Sequence[Row]) -> str:
    """A chart in words: every value it holds, unless they are too many to listen to."""
    said = [str(row["tip"]) for row in rows if row["part"] == "value" or len(rows) <= 12]
    return f"{what}. {'; '.join(said[:24])}." if said else f"{what}. Nothing to draw."


def _layers(rows: list[Row], axes: Axes) -> list[Any]:
    several = any(row["part"] == "value" for row in rows)
    place = _place(rows, axes)
    units = alt.Chart().transform_filter("datum.part == 'unit'")
    values = alt.Chart().transform_filter("datum.part == 'value'")
    size, opacity = (16, 0.45) if several else (64, 1.0)
    layers = [_points(units, place, axes, size, opacity)]
    if any("low" in row for row in rows):
        layers.append(_bars(values, place, axes))
    if several:
        layers.append(_points(values, place, axes, size=40, opacity=1.0))
    return layers


def _points(base: Any, place: dict[str, Any], axes: Axes, size: int, opacity: float) -> Any:
    colour = colour_scale(axes.styles)
    solid = alt.Fill("series:N", scale=colour, legend=None)
    return base.mark_point(size=size, opacity=opacity, strokeWidth=1.5).encode(
        **place,
        stroke=alt.Stroke("series:N", scale=colour, legend=None),
        fill=alt.condition("datum.hollow", alt.value(PAPER), solid),
        shape=alt.Shape("series:N", scale=shape_scale(axes.styles), legend=None),
    )


def _bars(values: Any, place: dict[str, Any], axes: Axes) -> Any:
    """Intervals. A rule given a shape as well would grow a point at its lower end."""
    spread = values.transform_filter("isValid(datum.low)")
    colour = alt.Stroke("series:N", scale=colour_scale(axes.styles), legend=None)
    rule = spread.mark_rule(strokeWidth=2, strokeCap="round")
    return rule.encode(**{**place, "y": alt.Y("low:Q"), "y2": "high:Q", "stroke": colour})


def _place(rows: list[Row], axes: Axes) -> dict[str, Any]:
    """Where a mark stands: density, then series and part side by side, then the value."""
    parts = [part for part in ("unit", "value") if any(row["part"] == part for row in rows)]
    slots = [f"{series}/{part}" for series in axes.styles for part in parts]
    bands = alt.Scale(domain=list(axes.densities), paddingInner=0.35, paddingOuter=0.2)
    return {
        "x": alt.X("density:O", sort=None, title=axes.axis, scale=bands),
        "xOffset": alt.XOffset("slot:N", scale=alt.Scale(domain=slots)),
        "y": _upwards(rows, axes),
        "tooltip": alt.Tooltip("tip:N"),
    }


def _upwards(rows: list[Row], axes: Axes) -> Any:
    """A logarithmic axis has no place for zero: rather a linear one than a number left out."""
    extent = [float(row[key]) for row in rows for key in ("value", "low", "high") if key in row]
    return vertical_log(axes.unit, extent) if axes.log and min(extent) > 0 else vertical(axes.unit)
