"""A plan's curves as figures: prediction and interval, the limit, the place that was chosen, the margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from density_study.analysis.capacity.plan.plan import Curve, spread
from density_study.analysis.report.charts.figure import (
    DATA,
    Column,
    DataTable,
    Figure,
    LegendEntry,
    Panel,
    colour_scale,
    mark,
    panel,
    vertical,
)
from density_study.analysis.report.charts.observations import Row
from density_study.analysis.report.charts.palette import SERIES, Style
from density_study.cluster.model.plain import capitalised

HEIGHT_PX, WIDTH_PX = 240, 430
PREDICTED, LIMIT, CHOSEN = "prediction, with its 90 % interval", "limit", "this plan"
LOOK = {PREDICTED: SERIES[0], LIMIT: SERIES[1], CHOSEN: Style("var(--ink, #1b1f24)", "diamond")}


def figures(curves: Sequence[Curve]) -> tuple[Figure, ...]:
    return tuple(_figure(number, curve) for number, curve in enumerate(curves) if curve.points)


def _figure(number: int, curve: Curve) -> Figure:
    id_ = f"curve-{number}"
    return Figure(
        id=id_,
        title=curve.title,
        caption=" ".join(_caption(curve)),
        panels=(_panel(id_, curve),),
        table=_table(curve),
        legend=tuple(LegendEntry(label, style) for label, style in LOOK.items()),
        layout="twos",
    )


def _caption(curve: Curve) -> Iterator[str]:
    yield f"Median and middle 90 % of the draws of {curve.y}, by {curve.x}."
    if curve.limit_words:
        yield f"Limit: {curve.limit_words}."
    if curve.margin is not None:
        yield f"Margin to the limit, with one host failed: {spread(curve.margin, '.0%')}."


def _rows(curve: Curve) -> Iterator[Row]:
    ref = f"/curves/{curve.title}"
    for point in curve.points:
        value = point.value
        yield {
            "part": "value", "ref": ref, "x": point.x, "value": value.q50, "low": value.q05,
            "high": value.q95, "series": PREDICTED,
            "tip": f"{point.x:.4g}: {spread(value, '.4g')} {curve.y}",
        }  # fmt: skip
    if curve.limit is not None:
        tip = f"limit: {curve.limit_words}"
        yield {"part": "limit", "ref": ref, "value": curve.limit, "series": LIMIT, "tip": tip}
    if curve.chosen is not None:
        tip = f"this plan: {curve.chosen:.4g} {curve.x}"
        yield {"part": "chosen", "ref": ref, "x": curve.chosen, "series": CHOSEN, "tip": tip}


def _panel(id_: str, curve: Curve) -> Panel:
    rows = list(_rows(curve))
    base = alt.Chart()
    across = alt.X("x:Q", title=curve.x, scale=alt.Scale(zero=False, nice=False))
    up = vertical(curve.y)
    colour = alt.Color("series:N", scale=colour_scale(LOOK), legend=None)
    predicted = base.transform_filter("datum.part == 'value'")
    ends = {"y": alt.Y("low:Q"), "y2": "high:Q"}
    layers = [
        predicted.mark_area(opacity=0.18).encode(x=across, **ends, color=colour),
        predicted.mark_line(strokeWidth=1.5).encode(x=across, y=up, color=colour),
        predicted.mark_point(size=30).encode(x=across, y=up, color=colour, description=mark()),
    ]
    for part, place in (("limit", {"y": up}), ("chosen", {"x": across})):
        rule = base.transform_filter(f"datum.part == '{part}'").mark_rule(
            strokeWidth=1.5, strokeDash=[5, 3]
        )
        layers.append(rule.encode(**place, color=colour, description=mark()))
    chart = alt.layer(*layers, data=alt.NamedData(DATA))
    what = f"{curve.title}: {curve.y} by {curve.x}, with the limit and what this plan has"
    return panel((id_, curve.title, ""), what, chart, rows, HEIGHT_PX, WIDTH_PX)


def _table(curve: Curve) -> DataTable:
    columns = (
        Column(capitalised(curve.x), numeric=True),
        Column(f"{curve.y}, median (90 % range)", numeric=True),
    )
    rows = tuple((f"{point.x:.4g}", spread(point.value, ".4g")) for point in curve.points)
    return DataTable(columns, rows)
