"""The one chart function: `draw` makes a figure of observations as a `Chart` describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import altair as alt

from density_study.analysis.report.charts.datatable import observation_table
from density_study.analysis.report.charts.figure import (
    DATA,
    WIDTHS_PX,
    Figure,
    Layout,
    LegendEntry,
    Panel,
    PanelKey,
    colour_scale,
    legend,
    mark,
    panel,
    shape_scale,
    vertical,
    vertical_log,
)
from density_study.analysis.report.charts.observations import Observation, Row, View
from density_study.analysis.report.charts.palette import INK, PAPER, Style
from density_study.analysis.report.charts.quantity import interval, quantity, sign
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Metric


@dataclass(frozen=True)
class Chart:
    """Which panel, place and series each observation has, and what stands on the axes. Observations with
    equal panel keys share a panel.

    points: each unit light, the value over them solid with its interval, side by side for each series;
    if `joined`, lines between the values guide the eye, and each value is written above it.
    limits: by panel id, where the summary has a requested value, and the value: drawn as a line.
    curve: values over a number that was varied, joined by lines that only guide the eye.
    stack: values of one bar on top of each other, in the order of `styles`.
    """

    id: str
    title: str
    caption: str
    panel: Callable[[Observation], PanelKey]
    x: Callable[[Observation], Any]
    series: Callable[[Observation], str]
    tip: Callable[[Observation], str]
    axis: str
    styles: dict[str, Style]
    table: tuple[str, Callable[[Metric], str]]
    mark: Literal["points", "curve", "stack"] = "points"
    ticks: tuple[str, ...] = ()
    unit: str = ""
    log: bool = False
    domain: tuple[float, float] | None = None
    hollow: Callable[[Observation], bool] = lambda _: False
    legend: tuple[LegendEntry, ...] = ()
    notes: tuple[str, ...] = ()
    layout: Layout = "threes"
    joined: bool = False
    limits: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    height_px: int = 208


def by_variant(view: View, **changes: Any) -> Chart:
    """A chart with a series per variant, unless `changes` says otherwise."""
    own: dict[str, Any] = {
        "series": lambda o: view.variant(o.test_case),
        "tip": lambda o: view.where(o.test_case),
        "styles": view.variant_styles,
    }
    return Chart(**(own | changes))


def by_density(view: View, **changes: Any) -> Chart:
    """A chart by density with a series per variant, unless `changes` says otherwise."""
    return by_variant(
        view,
        x=lambda o: view.density(o.test_case.vms_per_host),
        axis="workers per host (processes)" if view.process else f"{view.noun}s per host",
        ticks=view.densities,
        **changes,
    )


def draw(
    chart: Chart, seen: Sequence[Observation], view: View, listed: Sequence[Observation] = ()
) -> Figure | None:
    """The figure, its panels in the order of the observations; None if there is nothing to draw.

    listed: the observations of its table of numbers, if those are more than the ones drawn.
    """
    groups: dict[PanelKey, list[Observation]] = {}
    for one in seen:
        groups.setdefault(chart.panel(one), []).append(one)
    panels = tuple(
        _panel(
            chart,
            key,
            [*rows, *_limit(chart, key, same[0])],
            chart.unit or sign(same[0].metric.unit),
        )
        for key, same in groups.items()
        if (rows := [row for one in same for row in _rows(chart, one)])
    )
    if not panels:
        return None
    return Figure(
        id=chart.id,
        title=chart.title,
        caption=chart.caption,
        panels=panels,
        legend=(*legend(chart.styles), *chart.legend),
        table=observation_table(listed or seen, view, *chart.table),
        notes=chart.notes,
        layout=chart.layout,
    )


def _rows(chart: Chart, one: Observation) -> Iterator[Row]:
    series = chart.series(one)
    for row in one.rows() if chart.mark == "points" else one.value_row():
        ends = interval(row.get("low"), row.get("high"), one.metric.unit)
        spread = f" (interval {ends}; n = {one.metric.n})" if ends else ""
        yield {
            **row,
            "x": chart.x(one),
            "series": series,
            "slot": f"{series}/{row['part']}",
            "stack": list(chart.styles).index(series),
            "hollow": chart.hollow(one),
            "top": row.get("high", row["value"]),
            "number": digits(row["value"]),
            "tip": f"{chart.tip(one)}: {quantity(row['value'], one.metric.unit)}{spread}"
            f"{', with warnings' if row.get('warned') else ''}",
        }


def _limit(chart: Chart, key: PanelKey, one: Observation) -> Iterator[Row]:
    if key[0] in chart.limits:
        ref, limit = chart.limits[key[0]]
        tip = f"limit: {quantity(limit, one.metric.unit)}"
        yield {"part": "limit", "ref": ref, "value": limit, "tip": tip}


def _panel(chart: Chart, key: PanelKey, rows: list[Row], unit: str) -> Panel:
    if chart.mark == "curve":
        rows = sorted(rows, key=lambda row: (row["series"], row["x"]))
    layers = {"points": _points, "curve": _curve, "stack": _stack}[chart.mark]
    place = {"x": _across(chart, rows), "y": _upwards(chart, rows, unit)}
    if chart.mark != "stack":
        place["stroke"] = alt.Stroke("series:N", scale=colour_scale(chart.styles), legend=None)
    drawn = [*layers(chart, rows, place), *_limit_line(rows, place)]
    layered = alt.layer(*drawn, data=alt.NamedData(DATA))
    what = f"{chart.title}: {', '.join(filter(None, key[1:]))}, in {unit} by {chart.axis}"
    return panel(key, what, layered, rows, chart.height_px, WIDTHS_PX[chart.layout])


def _across(chart: Chart, rows: list[Row]) -> alt.X:
    """Categories, or for a curve a linear axis from zero, on which saturation shows as a bend."""
    if chart.mark == "curve":
        ticks = sorted({row["x"] for row in rows})
        axis = alt.Axis(values=ticks, labelExpr="'' + datum.value", grid=False, labelOverlap=True)
        return alt.X("x:Q", title=chart.axis, scale=alt.Scale(zero=True, nice=False), axis=axis)
    bands = alt.Scale(domain=list(chart.ticks), paddingInner=0.35, paddingOuter=0.2)
    return alt.X("x:O", sort=None, title=chart.axis, scale=bands)


def _upwards(chart: Chart, rows: list[Row], unit: str) -> Any:
    """A logarithmic axis has no zero: a panel that holds a zero gets a linear one."""
    extent = [float(row[key]) for row in rows for key in ("value", "low", "high") if key in row]
    if chart.log and min(extent) > 0:
        return vertical_log(unit, extent)
    return vertical(unit, chart.domain)


def _points(chart: Chart, rows: list[Row], place: dict[str, Any]) -> list[Any]:
    parts = [part for part in ("unit", "value") if any(row["part"] == part for row in rows)]
    slots = [f"{series}/{part}" for series in chart.styles for part in parts]
    place = {**place, "xOffset": alt.XOffset("slot:N", scale=alt.Scale(domain=slots))}
    units = alt.Chart().transform_filter("datum.part == 'unit'")
    values = alt.Chart().transform_filter("datum.part == 'value'")
    if "value" not in parts:
        return [
            *_joined(chart, units, place),
            _symbols(chart, units, place, size=64, opacity=1.0),
            *_warned(units, rows, place),
        ]
    return [
        _symbols(chart, units, place, size=16, opacity=0.45),
        *_joined(chart, values, place),
        *_intervals(values, rows, place),
        _symbols(chart, values, place, size=40, opacity=1.0),
        *_warned(values, rows, place),
    ]


def _joined(chart: Chart, base: Any, place: dict[str, Any]) -> list[Any]:
    if not chart.joined:
        return []
    across = {key: place[key] for key in ("x", "xOffset")}
    numbers = base.mark_text(dy=-11, fontSize=11, color=INK)
    return [
        base.mark_line(strokeWidth=1.5, opacity=0.55).encode(**place),
        numbers.encode(**across, y=alt.Y("top:Q"), text="number:N"),
    ]


def _curve(chart: Chart, rows: list[Row], place: dict[str, Any]) -> list[Any]:
    base = alt.Chart()
    return [
        base.mark_line(strokeWidth=1.5, opacity=0.55).encode(**place),
        *_intervals(base, rows, place),
        _symbols(chart, base, place, size=56, opacity=1.0),
        *_warned(base, rows, place),
    ]


def _symbols(chart: Chart, base: Any, place: dict[str, Any], size: int, opacity: float) -> Any:
    solid = alt.Fill("series:N", scale=colour_scale(chart.styles), legend=None)
    return base.mark_point(size=size, opacity=opacity, strokeWidth=1.5).encode(
        **place,
        fill=alt.condition("datum.hollow", alt.value(PAPER), solid),
        shape=alt.Shape("series:N", scale=shape_scale(chart.styles), legend=None),
        description=mark(),
    )


def _warned(base: Any, rows: list[Row], place: dict[str, Any]) -> list[Any]:
    """A sign beside each number from a trial with warnings: a chart is read without its table."""
    if not any(row.get("warned") for row in rows):
        return []
    own = {key: place[key] for key in ("x", "y", "xOffset") if key in place}
    signs = base.transform_filter("isValid(datum.warned)")
    return [
        signs.mark_text(text="!", dx=9, fontSize=12, fontWeight="bold", color=INK).encode(**own)
    ]


def _intervals(base: Any, rows: list[Row], place: dict[str, Any]) -> list[Any]:
    """Bars from low to high. A rule with a shape channel would get a point at its lower end."""
    if not any("low" in row for row in rows):
        return []
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, strokeCap="round")
    ends = {"y": alt.Y("low:Q"), "y2": "high:Q"}
    return [bars.encode(**{**place, **ends}, description=mark())]


def _limit_line(rows: list[Row], place: dict[str, Any]) -> list[Any]:
    if not any(row["part"] == "limit" for row in rows):
        return []
    line = alt.Chart().transform_filter("datum.part == 'limit'")
    rule = line.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5)
    return [rule.encode(y=place["y"], description=mark())]


def _stack(chart: Chart, _: list[Row], place: dict[str, Any]) -> list[Any]:
    bars = alt.Chart().mark_bar(stroke=PAPER, strokeWidth=0.75)
    fill = alt.Fill("series:N", scale=colour_scale(chart.styles), legend=None)
    return [bars.encode(**place, fill=fill, order=alt.Order("stack:Q"), description=mark())]
