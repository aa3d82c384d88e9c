"""The headline chart: the effect of each finding relative to 1, or used CPU if no finding has one."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence

import altair as alt

from analysis.report.charts.figure import (
    DATA,
    Figure,
    Panel,
    PanelKey,
    legend,
    mark,
    panel,
    series_look,
)
from analysis.report.charts.findings_table import findings_table
from analysis.report.charts.observations import Row, View
from analysis.report.charts.palette import INK, MUTED, VERDICT, Style
from analysis.report.charts.quantity import interval, ratio
from analysis.report.charts.sections import overview
from analysis.summary.summary import Finding, Summary

ROW_PX = 27
LINE_PX = 13
AXIS_PX = 46
MAX_ROWS = 16
MAX_ARMS = 4
LABEL_CHARACTERS = 30
# Width of a label's character in a wide font: the reader's font may be wider than the renderer's.
CHARACTER_PX = 7.2
MIN_TICKS = 3
FINE = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75)
FINEST = tuple(round(0.9 + 0.02 * step, 2) for step in range(11))
_EFFECT = "ratio: second arm over first"
Drawn = tuple[int, Finding]  # a finding's index in the summary, and the finding


def headline_figure(view: View) -> Figure | None:
    """Effects, or used CPU, or None if there is no valid number yet."""
    drawn = list(_once(view.summary.findings))
    return _effects(view.summary, drawn) if drawn else overview(view)


def _once(findings: Sequence[Finding]) -> Iterator[Drawn]:
    """Findings with an effect. A comparison that also decides a claim of the talk is drawn once."""
    seen = set()
    for at, finding in enumerate(findings):
        what = (finding.subject or at, finding.measure, finding.arms, finding.among, finding.effect)
        if finding.effect is not None and what not in seen:
            seen.add(what)
            yield at, finding


def _effects(summary: Summary, drawn: list[Drawn]) -> Figure:
    verdicts = list(VERDICT)
    chosen = sorted(drawn, key=lambda pair: verdicts.index(pair[1].verdict))[:MAX_ROWS]
    left_out = len(drawn) - len(chosen)
    occurring: set[str] = {finding.verdict for _, finding in chosen}
    shown = {name: style for name, style in VERDICT.items() if name in occurring}
    shared = _shared([finding for _, finding in chosen])
    common = ", ".join(shared.values())
    return Figure(
        id="effects",
        title="Effects",
        caption=f"{_capital(common)}. Ratios; 1 means no difference."
        if common
        else "Each finding's effect as a ratio; 1 means no difference.",
        panels=tuple(_effect_panels(sorted(chosen), shown, shared)),
        legend=legend(shown),
        table=findings_table(summary),
        notes=(f"{left_out} more effects are in the table of findings.",) if left_out else (),
        layout="one",
    )


def _shared(findings: Sequence[Finding]) -> dict[str, str]:
    """Words that all findings share: written once over the chart, not on each line."""
    found = {part: {getattr(one, part) for one in findings} for part in ("arms", "among")}
    return {part: words for part, each in found.items() if len(each) == 1 and (words := each.pop())}


def _effect_panels(
    chosen: Sequence[Drawn], shown: dict[str, Style], shared: dict[str, str]
) -> Iterator[Panel]:
    """A panel for each measure (throughput, CPU) and pair of arms, all on one scale."""
    apart = len({finding.arms for _, finding in chosen}) <= MAX_ARMS
    groups: dict[tuple[str | None, str | None], list[Drawn]] = {}
    for at, finding in chosen:
        key = finding.measure, finding.arms if apart else None
        groups.setdefault(key, []).append((at, finding))
    domain = _domain([finding for _, finding in chosen])
    for index, ((measure, arms), pairs) in enumerate(groups.items()):
        omitted = {*shared, "arms"} if apart else shared
        rows = [_effect_row(at, finding, omitted) for at, finding in pairs]
        title = _capital(measure or ("other effects" if index else ""))
        subtitle = "" if "arms" in shared else arms or ""
        axis = _EFFECT if index == len(groups) - 1 else ""
        id_ = "effects" if index == 0 else f"effects-{index + 1}"
        yield _strip((id_, title, subtitle), rows, shown, axis, domain)


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _domain(findings: Sequence[Finding]) -> tuple[float, float]:
    """Both ends of a scale that holds 1 and every effect with its interval, with a margin."""
    values = (end for f in findings for end in (f.effect, f.low, f.high))
    ends = [1.0, *(end for end in values if end is not None and end > 0)]
    low, high = min(ends), max(ends)
    room = (high / low) ** 0.06 if high > low else 1.1
    return low / room, high * room**5  # the numbers themselves are at the right


def _effect_row(at: int, finding: Finding, shared: Collection[str]) -> Row:
    ends = interval(finding.low, finding.high, "")
    row: Row = {
        "ref": f"/findings/{at}",
        "part": "value",
        "value": finding.effect,
        "series": finding.verdict,
        "line": f"{at}|{_wrapped(_label(finding, shared))}",  # two labels may be equal
        "text": ratio(finding.effect),
        "tip": f"{finding.statement}: {ratio(finding.effect)}"
        f"{f' (interval {ends})' if ends else ''}, {finding.verdict}",
    }
    if finding.low is not None and finding.high is not None:
        row |= {"low": finding.low, "high": finding.high}
    return row


def _label(finding: Finding, shared: Collection[str]) -> str:
    """What distinguishes this line; the whole statement where its parts are not known."""
    if finding.subject is None:
        return finding.statement
    parts = [getattr(finding, part) for part in ("among", "arms") if part not in shared]
    return ", ".join([finding.subject, *(part for part in parts if part)])


def _strip(
    key: PanelKey, rows: list[Row], shown: dict[str, Style], axis: str, domain: tuple[float, float]
) -> Panel:
    """A line per row: its words at the left, its ratio with its interval on a common scale with 1 marked."""
    lines = dict.fromkeys(row["line"] for row in rows)
    high = max(line.count("\n") for line in lines)
    height_px = (AXIS_PX if axis else AXIS_PX - 18) + (ROW_PX + LINE_PX * high) * len(lines)
    base = alt.Chart().encode(y=_lines(list(lines)))
    # logarithmic, because half and double are equally far from 1
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    ratios = alt.Axis(
        title=axis or None,
        labelExpr="'×' + format(datum.value, '~r')",
        grid=True,
        values=_ticks(*domain),
    )
    across = alt.X("value:Q", scale=scale, axis=ratios)
    look = series_look(shown)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    points = base.mark_point(filled=True, size=80, opacity=1)
    layers = [points.encode(x=across, **look, description=mark())]
    if any("low" in row for row in rows):
        low = alt.X("low:Q", title=axis or None)
        layers.insert(0, bars.encode(x=low, x2="high:Q", color=look["color"], description=mark()))
    one = alt.Chart().mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=alt.datum(1.0))
    numbers = base.mark_text(align="right", fontSize=11, color=MUTED)  # in a column at the right
    layers.append(numbers.encode(x=alt.value("width"), text="text:N"))
    chart = alt.layer(one, *layers, data=alt.NamedData(DATA))
    what = ", ".join(filter(None, key[1:])) or "Effects"
    return panel(key, what, chart, rows, height_px, width_px=560)


def _wrapped(label: str) -> str:
    return "\n".join(textwrap.wrap(label, LABEL_CHARACTERS, max_lines=3, placeholder=" …"))


def _lines(lines: list[str]) -> alt.Y:
    """The axis of words. The part before the bar (|) only makes each line unique."""
    text = "split(slice(datum.label, indexof(datum.label, '|') + 1), '\\n')"
    longest = max(len(part) for line in lines for part in line.partition("|")[2].split("\n"))
    axis = alt.Axis(
        labelExpr=text, labelColor=INK, labelFontSize=12, labelLimit=240, grid=False, title=None,
        minExtent=CHARACTER_PX * longest,
    )  # fmt: skip
    return alt.Y("line:N", sort=lines, axis=axis)


def _ticks(low: float, high: float) -> list[float]:
    """Round ratios within the scale: few where it is wide, finer ones where it is narrow."""
    wide = [step * 10.0**decade for decade in range(-6, 7) for step in (1.0, 2.0, 5.0)]
    for ticks in (wide, FINE, FINEST):
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) >= MIN_TICKS:
            break
    return within
