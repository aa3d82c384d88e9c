"""The rate of each test case over the runs of a study, with its change points, as one figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from density_study.analysis.comparison.causes import differing
from density_study.analysis.comparison.change_points import ChangePoint, subject_of
from density_study.analysis.report.charts.figure import (
    DATA,
    DataTable,
    Figure,
    Panel,
    colour_scale,
    columns,
    legend,
    mark,
    panel,
    shape_scale,
    vertical,
)
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import INK, Style, styles
from density_study.analysis.report.charts.quantity import interval, quantity, ratio, sign
from density_study.analysis.summary.summary import Metric, Summary, TestCaseSummary
from density_study.cluster.model.plain import counted
from density_study.workloads.study.metrics import main_rates

NEWEST = 60
"""Runs drawn at most: more points would not be distinguishable."""
HEIGHT_PX, WIDTH_PX = 180, 360
# A run's id begins with its date, 20261120T201530Z; an id of another kind is shown whole.
_MONTH_AND_DAY = "slice(datum.label, 4, 6) + '-' + slice(datum.label, 6, 8)"
_DATE = f"test(/^\\d{{8}}T/, datum.label) ? {_MONTH_AND_DAY} : datum.label"
Key = tuple[str, str]


@dataclass(frozen=True)
class Point:
    """The rate of a test case in one run. `place` is that of the metric in the run's summary.json."""

    run: str
    place: str
    entry: TestCaseSummary
    metric: Metric
    where: str


def trend(summaries: Sequence[Summary], changes: Sequence[ChangePoint], id_: str) -> Figure | None:
    """The figure of the newest 60 of `summaries`, oldest first; None unless two of them share a test case."""
    drawn = summaries[-NEWEST:]
    points = list(_points(drawn))
    shared = [same for same in _by_test_case(points).values() if len({p.run for p in same}) > 1]
    if not shared:
        return None
    look = styles(list(dict.fromkeys(point.where for same in shared for point in same)))
    runs = [summary.run for summary in drawn]
    panels = tuple(
        _panel(f"{id_}-{number}", same, changes, runs, look)
        for number, same in enumerate(_panels(shared).values(), 1)
    )
    return Figure(
        id=id_,
        title="Rate over runs",
        caption="The rate of each test case in each run, with its interval. A dashed line marks a change "
        "point: from this run on, the rate has another level (tested by permutation, with Bonferroni's "
        "correction).",
        panels=panels,
        legend=legend(look),
        table=_table([point for same in shared for point in same]),
        notes=tuple(_notes(summaries, drawn, points, shared)),
        layout="threes",
    )


def _points(summaries: Sequence[Summary]) -> Iterator[Point]:
    """For every test case without a target rate, in the order of the newest run's test cases."""
    for summary in reversed(summaries):
        view = View(summary)
        for at, entry in enumerate(summary.test_cases):
            if entry.target_ops_s is not None:
                continue  # a target rate is not a result
            for number, metric in enumerate(entry.metrics):
                if metric.name in main_rates() and metric.value is not None:
                    place = f"/test_cases/{at}/metrics/{number}"
                    yield Point(summary.run, place, entry, metric, view.where(entry))


def _by_test_case(points: Sequence[Point]) -> dict[Key, list[Point]]:
    """The points of each test case and topology that were measured with the parameters of the newest one,
    oldest first."""
    found: dict[Key, list[Point]] = {}
    for point in points:
        same = found.setdefault((point.entry.test_case, point.entry.topology), [])
        if not same or not differing((same[0].entry, point.entry)):
            same.append(point)
    return {key: same[::-1] for key, same in found.items()}


def _panels(shared: Sequence[Sequence[Point]]) -> dict[Key, list[Point]]:
    """A panel for each test case; its topologies share it. Test cases of two units do not share an axis."""
    found: dict[Key, list[Point]] = {}
    for same in shared:
        newest = same[-1]
        found.setdefault((newest.entry.test_case, newest.metric.unit), []).extend(same)
    return found


def _panel(
    id_: str,
    points: Sequence[Point],
    changes: Sequence[ChangePoint],
    runs: Sequence[str],
    look: dict[str, Style],
) -> Panel:
    newest = points[-1]
    rows = [*map(_row, points), *_change_rows(points, changes)]
    axis = alt.Axis(labelExpr=_DATE, labelOverlap=True)
    across = alt.X("x:O", sort=None, title=None, scale=alt.Scale(domain=list(runs)), axis=axis)
    base = alt.Chart().transform_filter("datum.part == 'value'")
    place = {
        "x": across,
        "y": vertical(sign(newest.metric.unit)),
        "stroke": alt.Stroke("series:N", scale=colour_scale(look), legend=None),
    }
    layers = [base.mark_line(strokeWidth=1.5, opacity=0.55).encode(**place)]
    if any("low" in row for row in rows):
        bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
        ends = {"y": alt.Y("low:Q"), "y2": "high:Q"}
        layers.append(bars.encode(**{**place, **ends}, description=mark()))
    symbols = base.mark_point(size=40, strokeWidth=1.5).encode(
        **place,
        fill=alt.Fill("series:N", scale=colour_scale(look), legend=None),
        shape=alt.Shape("series:N", scale=shape_scale(look), legend=None),
        description=mark(),
    )
    layers.append(symbols)
    if any(row["part"] == "change" for row in rows):
        dashed = alt.Chart().transform_filter("datum.part == 'change'")
        rule = dashed.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5)
        layers.insert(0, rule.encode(x=across, description=mark()))
    chart = alt.layer(*layers, data=alt.NamedData(DATA))
    changed = "".join(f" {row['tip']}." for row in rows if row["part"] == "change")
    what = f"{newest.entry.label}: rate in {sign(newest.metric.unit)} by run.{changed}"
    key = (id_, newest.entry.label, "")
    return panel(key, what.removesuffix("."), chart, rows, HEIGHT_PX, WIDTH_PX)


def _row(point: Point) -> Row:
    metric = point.metric
    ends = interval(metric.low, metric.high, metric.unit)
    spread = f" (interval {ends}; n = {metric.n})" if ends else ""
    row: Row = {
        "part": "value",
        "ref": f"{point.run}{point.place}",
        "x": point.run,
        "value": metric.value,
        "series": point.where,
        "tip": f"{point.run}, {point.where}: {quantity(metric.value, metric.unit)}{spread}",
    }
    return row if metric.low is None else {**row, "low": metric.low, "high": metric.high}


def _change_rows(points: Sequence[Point], changes: Sequence[ChangePoint]) -> Iterator[Row]:
    wheres = {subject_of(point.entry): point.where for point in points}
    runs = {point.run for point in points}
    for change in changes:
        if change.subject in wheres and change.run in runs:
            yield {
                "part": "change",
                "ref": f"{change.run}/change_points/{change.subject}",
                "x": change.run,
                "series": wheres[change.subject],
                "tip": f"{wheres[change.subject]}: {ratio(change.ratio)} since run {change.run} "
                f"(p = {change.p:.2g})",
            }


def _table(points: Sequence[Point]) -> DataTable:
    header = columns("Test case | Variant | Run | Rate # | Interval # | Builds #")
    rows = tuple(
        (
            point.entry.label,
            point.where,
            point.run,
            quantity(point.metric.value, point.metric.unit),
            interval(point.metric.low, point.metric.high, point.metric.unit) or "none",
            str(point.metric.n),
        )
        for point in points
    )
    return DataTable(header, rows)


def _notes(
    summaries: Sequence[Summary],
    drawn: Sequence[Summary],
    points: Sequence[Point],
    shared: Sequence[Sequence[Point]],
) -> Iterator[str]:
    if len(drawn) < len(summaries):
        yield f"The newest {len(drawn)} of {len(summaries)} runs. Change points use all of them."
    if left_out := len(points) - sum(map(len, shared)):
        yield (
            f"Not drawn: {counted(left_out, 'more number')}, whose test case no other run has, or has "
            "measured with other parameters."
        )
