"""The path of each comparison to its answer: ratio and interval after every repetition."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

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
    titled,
)
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import MUTED, SERIES, Style
from density_study.analysis.report.charts.quantity import interval, ratio
from density_study.analysis.summary.summary import Look, Precision
from density_study.cluster.model.plain import counted

HEIGHT_PX = 168
MOST_PANELS = 12
PRECISE = ("precise", "not precise enough yet")
DECIDED = ("decided", "not decided yet")
Words = tuple[str, str]
"""The words for a comparison that needs no more repetitions, and for one that does."""


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
    words, until = _words(precision), precision.until
    title = titled("answers") if until is None else titled("precision", until=f"{100 * until:g}")
    return Figure(
        **title,
        panels=tuple(_panel(name, paths[name], words) for name in drawn[:MOST_PANELS]),
        legend=legend(_styles(words)),
        table=table(precision),
        notes=(f"In the table: {counted(left_out, 'comparison')} with fewer repetitions.",)
        if left_out > 0
        else (),
        layout="threes",
    )


def _words(precision: Precision) -> Words:
    return DECIDED if precision.until is None else PRECISE


def _styles(words: Words) -> dict[str, Style]:
    return dict(zip(words, SERIES, strict=False))


def table(precision: Precision) -> DataTable:
    return DataTable(
        columns("Comparison | Builds per variant # | Ratio # | Interval # | State"),
        tuple(
            (
                one.comparison,
                str(one.n),
                ratio(one.effect),
                interval(one.low, one.high, "").strip(),
                one.precise or _words(precision)[1],
            )
            for one in precision.looks
        ),
    )


def _panel(name: str, looks: list[tuple[int, Look]], words: Words) -> Panel:
    rows = list(_rows(looks, words))
    base = alt.Chart(alt.NamedData(DATA)).encode(
        x=alt.X(
            "n:Q", title="builds per variant", axis=alt.Axis(grid=False, tickMinStep=1, format="d")
        ),
        color=alt.Color(
            "state:N",
            scale=alt.Scale(
                domain=list(words), range=[style.colour for style in _styles(words).values()]
            ),
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


def _rows(looks: list[tuple[int, Look]], words: Words) -> Iterator[Row]:
    for at, look in looks:
        if look.effect is not None and look.low is not None and look.high is not None:
            state = look.precise or words[1]
            yield {
                "ref": f"/precision/looks/{at}",
                "part": "value",
                "n": look.n,
                "value": look.effect,
                "low": look.low,
                "high": look.high,
                "state": words[0] if look.precise else words[1],
                "tip": f"{look.n} builds: {ratio(look.effect)}, "
                f"{look.low:.3g} to {look.high:.3g}, {state}",
            }
