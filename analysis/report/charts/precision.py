"""The path of each comparison to its answer: ratio and interval after every repetition."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from density_study.analysis.report.charts.figure import (
    DATA,
    WIDTHS_PX,
    Column,
    DataTable,
    Figure,
    Panel,
    legend,
    mark,
    panel,
    titled,
)
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import MUTED, SERIES
from density_study.analysis.report.charts.quantity import interval, ratio
from density_study.analysis.summary.summary import Look, Precision

HEIGHT_PX = 168
MOST_PANELS = 12
NOT_PRECISE = "not precise enough yet"
_LOOKS = {"precise": SERIES[0], NOT_PRECISE: SERIES[1]}


def figure(view: View) -> Figure | None:
    """None if the repetitions were fixed, or too few for a first look."""
    precision = view.summary.precision
    if precision is None or not precision.looks:
        return None
    paths: dict[str, list[tuple[int, Look]]] = {}
    for at, look in enumerate(precision.looks):
        paths.setdefault(look.comparison, []).append((at, look))
    # those that took longest come first
    drawn = sorted(paths, key=lambda name: -sum(look.precise is None for _, look in paths[name]))
    left_out = len(drawn) - MOST_PANELS
    return Figure(
        **titled("precision", until=f"{100 * precision.until:g}"),
        panels=tuple(_panel(name, paths[name]) for name in drawn[:MOST_PANELS]),
        legend=legend(_LOOKS),
        table=table(precision),
        notes=(f"{left_out} comparisons that were precise enough sooner are in the table.",)
        if left_out > 0
        else (),
        layout="threes",
    )


def table(precision: Precision) -> DataTable:
    return DataTable(
        (
            Column("Comparison"),
            Column("Builds per variant", numeric=True),
            Column("Ratio", numeric=True),
            Column("Interval", numeric=True),
            Column("State"),
        ),
        tuple(
            (
                one.comparison,
                str(one.n),
                ratio(one.effect),
                interval(one.low, one.high, "").strip(),
                one.precise or NOT_PRECISE,
            )
            for one in precision.looks
        ),
    )


def _panel(name: str, looks: list[tuple[int, Look]]) -> Panel:
    rows = list(_rows(looks))
    base = alt.Chart(alt.NamedData(DATA)).encode(
        x=alt.X(
            "n:Q", title="builds per variant", axis=alt.Axis(grid=False, tickMinStep=1, format="d")
        ),
        color=alt.Color(
            "state:N",
            scale=alt.Scale(domain=list(_LOOKS), range=[style.colour for style in _LOOKS.values()]),
            legend=None,
        ),
        description=mark(),
    )
    y = {"scale": alt.Scale(zero=False, nice=4), "axis": alt.Axis(tickCount=4)}
    ends = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", title="ratio", **y), y2=alt.Y2("high:Q")
    )
    middle = base.mark_point(filled=True, size=44).encode(y=alt.Y("value:Q", **y))
    one = (
        alt.Chart(alt.NamedData(DATA))
        .mark_rule(color=MUTED, strokeDash=[4, 3])
        .encode(y=alt.datum(1.0), description=mark())
    )
    subject, _, variants = name.partition(": ")
    return panel(
        ("precision", subject, variants),
        name,
        one + ends + middle,
        rows,
        HEIGHT_PX,
        WIDTHS_PX["threes"],
    )


def _rows(looks: list[tuple[int, Look]]) -> Iterator[Row]:
    for at, look in looks:
        if look.effect is not None and look.low is not None and look.high is not None:
            state = look.precise or NOT_PRECISE
            yield {
                "ref": f"/precision/looks/{at}",
                "part": "value",
                "n": look.n,
                "value": look.effect,
                "low": look.low,
                "high": look.high,
                "state": "precise" if look.precise else NOT_PRECISE,
                "tip": f"{look.n} builds: {ratio(look.effect)}, "
                f"{look.low:.3g} to {look.high:.3g}, {state}",
            }
