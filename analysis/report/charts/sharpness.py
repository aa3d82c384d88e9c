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
from density_study.analysis.summary.summary import Look, Sharpness

HEIGHT_PX = 168
MOST_PANELS = 12
NOT_SHARP = "not sharp yet"
_LOOKS = {"sharp": SERIES[0], NOT_SHARP: SERIES[1]}


def figure(view: View) -> Figure | None:
    """None if the repetitions were fixed, or too few for a first look."""
    sharpness = view.summary.sharpness
    if sharpness is None or not sharpness.looks:
        return None
    paths: dict[str, list[tuple[int, Look]]] = {}
    for at, look in enumerate(sharpness.looks):
        paths.setdefault(look.comparison, []).append((at, look))
    # those that took longest come first
    drawn = sorted(paths, key=lambda name: -sum(look.sharp is None for _, look in paths[name]))
    left_out = len(drawn) - MOST_PANELS
    return Figure(
        **titled("sharpness", until=f"{100 * sharpness.until:g}"),
        panels=tuple(_panel(name, paths[name]) for name in drawn[:MOST_PANELS]),
        legend=legend(_LOOKS),
        table=table(sharpness),
        notes=(f"{left_out} comparisons that were sharp sooner are in the table.",)
        if left_out > 0
        else (),
        layout="threes",
    )


def table(sharpness: Sharpness) -> DataTable:
    return DataTable(
        (
            Column("Comparison"),
            Column("Builds per arm", numeric=True),
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
                one.sharp or NOT_SHARP,
            )
            for one in sharpness.looks
        ),
    )


def _panel(name: str, looks: list[tuple[int, Look]]) -> Panel:
    rows = list(_rows(looks))
    base = alt.Chart(alt.NamedData(DATA)).encode(
        x=alt.X(
            "n:Q", title="builds per arm", axis=alt.Axis(grid=False, tickMinStep=1, format="d")
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
    subject, _, arms = name.partition(": ")
    return panel(
        ("sharpness", subject, arms),
        name,
        one + ends + middle,
        rows,
        HEIGHT_PX,
        WIDTHS_PX["threes"],
    )


def _rows(looks: list[tuple[int, Look]]) -> Iterator[Row]:
    for at, look in looks:
        if look.effect is not None and look.low is not None and look.high is not None:
            state = look.sharp or NOT_SHARP
            yield {
                "ref": f"/sharpness/looks/{at}",
                "part": "value",
                "n": look.n,
                "value": look.effect,
                "low": look.low,
                "high": look.high,
                "state": "sharp" if look.sharp else NOT_SHARP,
                "tip": f"{look.n} builds: {ratio(look.effect)}, "
                f"{look.low:.3g} to {look.high:.3g}, {state}",
            }
