"""Inside a trial: the specs of its charts, which the page's script fills and draws for the chosen trial.

These are the only charts drawn in the browser. A trial's numbers are in the page once, in its copy of
summary.json; pre-rendering the charts of every trial would make the page large and slow.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from density_study.analysis.report.charts.figure import (
    DATA,
    LOG,
    above,
    colour_scale,
    finished,
    mark,
    series_look,
    vertical,
)
from density_study.analysis.report.charts.palette import CPU, INK, MUTED, SERIES, Style

# Data set of the workload's start, end of ramp-up and end: `at` in seconds, and `label`.
WINDOW = "window"
# Data set of slow seconds and of events: `at` and `end` in seconds, `kind` and `tip`.
MARKS = "marks"
MARKED = {"slow": Style(MUTED, "square"), "event": SERIES[1]}
HEIGHT_PX = 190
RATES = {
    "operations": SERIES[0],
    "requested": SERIES[1],
    "transferred": SERIES[0],
    "longest_operation": SERIES[3],
    "disk_read": SERIES[2],
    "disk_write": SERIES[1],
}
CURVES = tuple(SERIES)
DECADES = [10.0**power for power in range(-3, 7)]  # ticks of latency, ms


def shapes() -> dict[str, Any]:
    """A Vega-Lite spec without rows for each kind of chart: cpu, rate, device, latency."""
    numbered = {str(place): style for place, style in enumerate(CURVES)}
    return {
        "cpu": _with_window(cpu_bars()),
        "rate": _lines(RATES),
        "device": _lines(numbered),
        "latency": _latency(numbered),
    }


def cpu_bars() -> alt.Chart:
    """Rows: at, end (s), kind, stack, value (percent of the host's cores), tip, ref."""
    bars: alt.Chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_bar(binSpacing=0)
        .encode(
            x=_seconds(bin="binned"),
            x2="end:Q",
            y=vertical("% of the host's cores", domain=(0.0, 100.0)),
            fill=alt.Fill("kind:N", scale=colour_scale(CPU), legend=None),
            order=alt.Order("stack:Q"),
            tooltip=alt.Tooltip("tip:N"),
            description=mark(),
        )
    )
    return bars


def _lines(styles: dict[str, Style]) -> dict[str, Any]:
    """Rows: at (s, the middle of the step), series, value (null: unknown), tip, ref."""
    look = series_look(styles)
    base = alt.Chart(alt.NamedData(DATA)).encode(x=_seconds(), y=vertical(""), color=look["color"])
    points = base.transform_filter("isValid(datum.value)").mark_point(
        filled=True, size=14, opacity=1
    )
    return _with_window(
        base.mark_line(strokeWidth=1.25, invalid="break-paths-filter-domains"),
        points.encode(shape=look["shape"], tooltip=alt.Tooltip("tip:N")),
    )


def _latency(styles: dict[str, Style]) -> dict[str, Any]:
    """Rows: part (1 / (1 - p)), series, value (ms), tip, ref. On this scale each further nine of a
    percentile is equally wide, as in HdrHistogram's plots."""
    percent = "format(100 - 100 / datum.value, '~r') + ' %'"
    ticks = [2, 10, 100, 1000, 10000]
    axis = alt.Axis(values=ticks, labelExpr=percent, grid=True, title="of operations")
    scale = alt.Scale(type="log", nice=False)
    look = series_look(styles)
    upwards = alt.Y(
        "value:Q", scale=alt.Scale(type="log"), axis=above(f"ms{LOG}", format="~r", values=DECADES)
    )
    base = alt.Chart(alt.NamedData(DATA)).encode(
        x=alt.X("part:Q", scale=scale, axis=axis), y=upwards, color=look["color"]
    )
    points = base.mark_point(filled=True, size=22, opacity=1).encode(
        shape=look["shape"], tooltip=alt.Tooltip("tip:N")
    )
    return finished(alt.layer(base.mark_line(strokeWidth=1.25), points), [], HEIGHT_PX)


def _seconds(**more: Any) -> alt.X:
    title = "seconds since the workload's start"
    axis = alt.Axis(title=title, tickCount=8, labelOverlap=True)
    return alt.X("at:Q", scale=alt.Scale(nice=False), axis=axis, **more)


def _with_window(*layers: Any) -> dict[str, Any]:
    marks = alt.Chart(alt.NamedData(WINDOW)).encode(x="at:Q")
    rules = marks.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.25)
    words = marks.mark_text(
        align="left", baseline="bottom", dx=3, dy=-2, y=0, color=MUTED, fontSize=10
    )
    spans = (
        alt.Chart(alt.NamedData(MARKS))
        .mark_rect(clip=True, opacity=0.22, strokeWidth=0.75)
        .encode(
            x="at:Q",
            x2="end:Q",
            fill=alt.Fill("kind:N", scale=colour_scale(MARKED), legend=None),
            stroke=alt.Stroke("kind:N", scale=colour_scale(MARKED), legend=None),
            tooltip=alt.Tooltip("tip:N"),
        )
    )
    drawn = alt.layer(spans, *layers, rules, words.encode(text="label:N"))
    spec = finished(drawn.resolve_scale(fill="independent", stroke="independent"), [], HEIGHT_PX)
    spec["datasets"] |= {WINDOW: [], MARKS: []}
    return spec


def symbols() -> dict[str, Style]:
    """The legend's symbols by id. The script copies them next to the series' names."""
    rates = {f"symbol-rate-{name}": style for name, style in RATES.items()}
    return rates | {
        f"symbol-{shape}-{place}": style
        for shape in ("device", "latency")
        for place, style in enumerate(CURVES)
    }
