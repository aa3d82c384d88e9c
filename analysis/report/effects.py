"""The chart of the answer: the effect of each finding against 1, or used CPU where none is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from analysis.report.density import describe
from analysis.report.figure import (
    DATA,
    Column,
    DataTable,
    Figure,
    LegendEntry,
    Panel,
    colour_scale,
    finished,
    shape_scale,
)
from analysis.report.observations import Names, Row, observations, value_row
from analysis.report.palette import INK, MUTED, PAPER, VERDICT, Style, styles
from analysis.report.quantity import interval, quantity, ratio
from analysis.summary import Finding, Summary

ROW_PX = 40
AXIS_PX = 46
MOST_ROWS = 12
_VERDICTS = tuple(VERDICT)


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    """One figure: effects, else used CPU, else none (nothing valid was measured yet)."""
    drawn = [
        (at, finding) for at, finding in enumerate(summary.findings) if finding.effect is not None
    ]
    if drawn:
        yield _effects(summary, drawn)
    else:
        yield from _overview(summary, names)


def _effects(summary: Summary, drawn: list[tuple[int, Finding]]) -> Figure:
    chosen = sorted(drawn, key=lambda pair: _VERDICTS.index(pair[1].verdict))[:MOST_ROWS]
    rows = [_effect_row(at, finding) for at, finding in sorted(chosen)]
    left_out = len(drawn) - len(chosen)
    shown = {
        name: style for name, style in VERDICT.items() if any(name == r["series"] for r in rows)
    }
    panel = _strip("effects", "Effects", rows, shown, "ratio of the later arm over the first", "×")
    return Figure(
        id="effects",
        title="Effects",
        caption="Each finding's effect as a ratio; 1 means no difference.",
        panels=(panel,),
        legend=tuple(LegendEntry(label, style) for label, style in shown.items()),
        table=findings_table(summary),
        notes=(f"{left_out} more effects stand in the table of findings.",) if left_out else (),
        layout="one",
    )


def _effect_row(at: int, finding: Finding) -> Row:
    ends = interval(finding.low, finding.high, "")
    row: Row = {
        "ref": f"/findings/{at}",
        "part": "value",
        "value": finding.effect,
        "series": finding.verdict,
        "label": finding.statement,
        "said": ratio(finding.effect),
        "line": f"/findings/{at}",  # ids are the study's: nothing says that they differ
        "tip": f"{finding.statement}: {ratio(finding.effect)}"
        f"{f' (interval {ends})' if ends else ''}, {finding.verdict}",
    }
    if finding.low is not None and finding.high is not None:
        row |= {"low": finding.low, "high": finding.high}
    return row


def _strip(
    id_: str, title: str, rows: list[Row], shown: dict[str, Style], axis: str, sign: str
) -> Panel:
    """A line a row: its words, and under them its value on one common scale with its interval."""
    height_px = AXIS_PX + ROW_PX * len({row["line"] for row in rows})
    lines = alt.Y("line:N", sort=None, axis=None)
    base = alt.Chart().encode(y=lines, tooltip=alt.Tooltip("tip:N"))
    scale = alt.Scale(zero=sign == "%", nice=True, padding=12)
    across = alt.X("value:Q", scale=scale, axis=_across(axis, sign))
    colour = alt.Color("series:N", scale=colour_scale(shown), legend=None)
    shape = alt.Shape("series:N", scale=shape_scale(shown), legend=None)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, yOffset=7)
    points = base.mark_point(filled=True, size=90, opacity=1, yOffset=7)
    layers = [*_words(base), points.encode(x=across, color=colour, shape=shape)]
    if sign == "×":
        layers = [*_said(base), *layers]
    if any("low" in row for row in rows):
        layers.insert(-1, bars.encode(x=alt.X("low:Q", title=axis), x2="high:Q", color=colour))
    if sign == "×":
        one = alt.Chart().mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=alt.datum(1.0))
        layers.insert(0, one)
    chart = alt.layer(*layers, data=alt.NamedData(DATA))
    spec = finished(chart, rows, height_px)
    return Panel(id_, title, "", describe(title, rows), height_px, spec, static_width_px=560)


def _said(base: alt.Chart) -> list[alt.Chart]:
    """The effect itself as text, right of its point or of its interval's end."""
    end = "isValid(datum.high) ? datum.high : datum.value"
    look = {"align": "left", "dx": 9, "yOffset": 7, "fontSize": 11}
    texts = _on_paper(base.transform_calculate(end=end), look, MUTED)
    return [text.encode(x=alt.X("end:Q"), text="said:N") for text in texts]


def _words(base: alt.Chart) -> list[alt.Chart]:
    """Each row's words over its line, shortened where the panel is narrow."""
    look = {"align": "left", "baseline": "middle", "dy": -10, "fontSize": 12}
    texts = _on_paper(base, {**look, "limit": alt.ExprRef("width")}, INK)
    return [text.encode(x=alt.value(0), text="label:N") for text in texts]


def _on_paper(base: alt.Chart, look: dict[str, Any], colour: str) -> tuple[alt.Chart, alt.Chart]:
    """A text mark twice: first a halo of paper, so that no line runs through the words."""
    halo = base.mark_text(**look, stroke=PAPER, strokeWidth=6, strokeJoin="round", color=PAPER)
    return halo, base.mark_text(**look, color=colour)


def _across(axis: str, sign: str) -> alt.Axis:
    label = "'×' + datum.label" if sign == "×" else "datum.label + ' %'"
    return alt.Axis(title=axis, labelExpr=label, tickCount=5, grid=True)


def _overview(summary: Summary, names: Names) -> Iterator[Figure]:
    rows = list(_overview_rows(summary, names))
    if not rows:
        return
    shown = styles(list(dict.fromkeys(row["series"] for row in rows)))
    yield Figure(
        id="overview",
        title="Used host CPU",
        caption="No finding tells an effect; this is how much of the hosts' CPUs each setting used.",
        panels=(_strip("overview", "Used host CPU", rows, shown, "used host CPU", "%"),),
        legend=tuple(LegendEntry(label, style) for label, style in shown.items()),
        table=DataTable(
            (Column("Setting"), Column("Arm"), Column("Used host CPU", numeric=True)),
            tuple((r["label"], r["series"], quantity(r["value"], "percent")) for r in rows),
        ),
        layout="one",
    )


def _overview_rows(summary: Summary, names: Names) -> Iterator[Row]:
    for one in observations(summary, {"cpu_used"}):
        if not (one.metric.scope or "").startswith("host:"):
            continue
        setting = one.setting
        arm = f"{names.density_in_words(setting.vms_per_host)}, {names.arm(setting)}"
        shared: Row = {"series": arm, "label": setting.label, "line": setting.setting}
        row = value_row(one, shared)
        if row is not None:
            said = (
                f"{setting.label}, {arm}, {one.metric.scope}: {quantity(row['value'], 'percent')}"
            )
            yield {**row, "tip": said}


def findings_table(summary: Summary) -> DataTable:
    """Every finding: what is claimed, its verdict, effect, interval, units an arm and why."""
    columns = (
        Column("Finding"),
        Column("Verdict"),
        Column("Effect", numeric=True),
        Column("Interval", numeric=True),
        Column("Builds an arm", numeric=True),
        Column("Why"),
    )
    return DataTable(columns, tuple(_finding_cells(finding) for finding in summary.findings))


def _finding_cells(finding: Finding) -> tuple[str, ...]:
    ends = finding.low is not None and finding.high is not None
    return (
        finding.statement,
        finding.verdict,
        ratio(finding.effect),
        f"{ratio(finding.low)} to {ratio(finding.high)}" if ends else "none",
        f"n = {', '.join(map(str, finding.n))}" if finding.n else "none",
        finding.why,
    )
