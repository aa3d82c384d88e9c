"""Loads whose rate changes with time: rates requested and achieved over time, and each part's numbers."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from density_study.analysis.findings.variants import TAIL
from density_study.analysis.report.charts.figure import (
    DATA,
    WIDTHS_PX,
    DataTable,
    Figure,
    Panel,
    columns,
    legend,
    mark,
    panel,
    series_look,
    titled,
    vertical,
    vertical_log,
)
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import SERIES, Style
from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.summary.series import TrialSeries
from density_study.analysis.summary.summary import Metric, TestCaseSummary, TrialSummary
from density_study.cluster.model.plain import counted
from density_study.workloads.base.evidence import SUSTAINED

HEIGHT_PX = 168
MOST_TRIALS = 8
RATES = {"requested": SERIES[1], "achieved": SERIES[0]}
_SERIES = {"requested": "requested", "operations": "achieved"}


def figure(view: View) -> Figure | None:
    """None if no load changed with time. The first counted trial of each test case and topology is drawn."""
    test_cases = {
        (one.test_case, one.topology): one for one in view.summary.test_cases if one.phase
    }
    if not test_cases:
        return None
    trials: dict[tuple[str, str], int] = {}
    for at, trial in enumerate(view.summary.trials):
        if (trial.test_case, trial.topology) in test_cases and trial.counted:
            trials.setdefault((trial.test_case, trial.topology), at)
    shown = [key for key in test_cases if key in trials]
    operations = _operations(view)
    drawn = [
        one
        for key in shown[:MOST_TRIALS]
        for one in _panels(view, test_cases[key], trials[key], operations)
    ]
    left_out = len(shown) - MOST_TRIALS
    return Figure(
        **titled("load-phases"),
        panels=tuple(drawn),
        legend=legend({**RATES, **{f"p99 of {name}": style for name, style in operations.items()}}),
        table=table(view),
        notes=(f"In the table: {counted(left_out, 'more test case')}.",) if left_out > 0 else (),
        layout="twos",
    )


def table(view: View) -> DataTable:
    """One row per part of each test case on each topology: medians over its builds."""
    found = [
        (one, number, part)
        for one in view.summary.test_cases
        for number, part in enumerate(one.parts, start=1)
    ]
    return DataTable(
        columns(
            "Test case | Topology | Part | Requested # | Achieved # | Sustained "
            "| Variation by second # | Intended p50 | Intended p99"
        ),
        tuple(
            (one.label, one.topology, part.name, *_numbers(_of_part(one.metrics, number)))
            for one, number, part in found
        ),
        of=tuple((one.test_case, str(one.vms_per_host), one.disk_type) for one, *_ in found),
    )


def _numbers(metrics: list[tuple[int, Metric]]) -> Iterator[str]:
    values = {one.name: one.value for _, one in metrics if one.name != "part_latency"}
    asked, rate = values.get("part_requested"), values.get("part_rate")
    yield quantity(asked, "ops/s")
    yield quantity(rate, "ops/s")
    if asked is None or rate is None:
        yield "unknown"
    else:
        yield "yes" if rate >= SUSTAINED * asked else f"no, {100 * rate / asked:.0f} %"
    yield quantity(values.get("part_variation"), "percent")
    for percentile in (50.0, TAIL):
        known = [metric for _, metric in metrics if metric.percentile == percentile]
        named = (f"{one.operation} {quantity(one.value, 'ms')}" for one in known)
        yield ", ".join(named) or "unknown"


def _of_part(metrics: tuple[Metric, ...], number: int) -> list[tuple[int, Metric]]:
    scope = f"part:{number:04d}"
    return [(at, metric) for at, metric in enumerate(metrics) if metric.scope == scope]


def _operations(view: View) -> dict[str, Style]:
    """A style for each operation with a latency by part."""
    names = {
        metric.operation
        for one in view.summary.test_cases
        for metric in one.metrics
        if metric.name == "part_latency" and metric.operation
    }
    return {name: SERIES[2 + at % 4] for at, name in enumerate(sorted(names))}


def _panels(
    view: View, test_case: TestCaseSummary, at: int, operations: dict[str, Style]
) -> Iterator[Panel]:
    trial = view.summary.trials[at]
    where = f"{view.where(test_case)}, {trial.trial}"
    title = test_case.label
    key = (f"load-{trial.trial}", title, where)
    of = [test_case.test_case, str(test_case.vms_per_host), test_case.disk_type]
    series = next(
        ((i, one) for i, one in enumerate(view.summary.series) if one.trial == trial.trial), None
    )
    rates = [] if series is None else list(_rates(*series, trial, of))
    if rates:
        yield panel(key, f"Rates over time: {title}", _lines(), rates, HEIGHT_PX, WIDTHS_PX["twos"])
    tails = list(_tails(test_case, at, trial, of))
    if not tails:  # no part has enough operations
        return
    chart = _steps(tails, operations)
    what = f"Intended p99 of each part: {title}"
    yield panel((f"{key[0]}-p99", title, f"intended p99, {where}"), what, chart, tails, HEIGHT_PX,
                WIDTHS_PX["twos"])  # fmt: skip


def _rates(at: int, series: TrialSeries, trial: TrialSummary, of: list[str]) -> Iterator[Row]:
    ramp_up_s = trial.warm_up_s or 0.0
    for index, rate in enumerate(series.rates):
        name = _SERIES.get(rate.name)
        for place, value in enumerate(rate.rate if name else ()):
            second = rate.at_s[place] + series.step_s / 2 - ramp_up_s
            if value is not None and second >= 0:
                yield {
                    "ref": f"/series/{at}/rates/{index}/rate/{place}",
                    "part": "value",
                    "at": second,
                    "series": name,
                    "value": value,
                    "tip": f"second {second:g}, {name}: {quantity(value, 'ops/s')}",
                    "of": of,
                }


def _tails(
    test_case: TestCaseSummary, at: int, trial: TrialSummary, of: list[str]
) -> Iterator[Row]:
    for number, part in enumerate(test_case.parts, start=1):
        for index, metric in _of_part(trial.metrics, number):
            if metric.percentile == TAIL and metric.value is not None:
                yield {
                    "ref": f"/trials/{at}/metrics/{index}/value",
                    "part": "value",
                    "at": part.begin_s,
                    "end": part.end_s,
                    "series": metric.operation,
                    "value": metric.value,
                    "tip": f"{part.name}, p99 of {metric.operation}: {quantity(metric.value, 'ms')}",
                    "of": of,
                }


def _seconds() -> alt.X:
    axis = alt.Axis(title="seconds since the end of the ramp-up", tickCount=8, labelOverlap=True)
    return alt.X("at:Q", scale=alt.Scale(nice=False), axis=axis)


def _lines() -> alt.LayerChart:
    look = series_look(RATES)
    base = alt.Chart(alt.NamedData(DATA)).encode(x=_seconds(), y=vertical("ops/s"))
    points = base.mark_point(filled=True, size=12, opacity=1)
    return base.mark_line(strokeWidth=1.25).encode(color=look["color"]) + points.encode(
        **look, description=mark()
    )


def _steps(rows: list[Row], operations: dict[str, Style]) -> alt.Chart:
    values = [row["value"] for row in rows if row["value"] > 0] or [1.0]
    bars: alt.Chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_rule(strokeWidth=2.5)
        .encode(
            x=_seconds(),
            x2="end:Q",
            y=vertical_log("ms", values),
            color=series_look(operations)["color"],
            description=mark(),
        )
    )
    return bars
