"""Where time went: the run's wall time, and bring-up seconds by phase of every build."""

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
    colour_scale,
    columns,
    legend,
    mark,
    panel,
    series_look,
    titled,
)
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import PAPER, TIME, Style, styles
from density_study.analysis.report.charts.quantity import duration, quantity
from density_study.analysis.summary.summary import Summary

PHASE_PX = 26
AXIS_PX = 46
WALL_PX = 84
LETTER_PX = 7
"""The width of a letter of an axis, at most: the renderer's own font may be narrower than the reader's."""


def figures(view: View) -> Iterator[Figure]:
    yield _wall(view.summary)
    if any(build.phases_s for build in view.summary.builds):
        yield _bring_up(view)


def _wall(summary: Summary) -> Figure:
    spent = {kind: getattr(summary.time, f"{kind}_s") for kind in TIME}
    known = {kind: value for kind, value in spent.items() if value is not None}
    rows: list[Row] = [
        {
            "ref": f"/time/{kind}_s",
            "part": "value",
            "kind": kind,
            "stack": index,
            "value": value,
            "tip": f"{kind}: {duration(value)}",
        }
        for index, (kind, value) in enumerate(known.items())
    ]
    return Figure(
        **titled("wall-time", total=duration(summary.time.total_s)),
        panels=(_wall_panel(rows),),
        legend=legend({f"{kind} {duration(s)}": TIME[kind] for kind, s in known.items()}),
        table=DataTable(
            columns("Activity | Time # | Seconds #"),
            tuple((kind, duration(s), quantity(s, "s")) for kind, s in known.items()),
        ),
        notes=tuple(
            f"{kind.capitalize()} had not finished when this report was written."
            for kind in TIME
            if kind not in known
        ),
        layout="twos",
    )


def _wall_panel(rows: list[Row]) -> Panel:
    chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_bar(stroke=PAPER, strokeWidth=1)
        .encode(
            x=alt.X("value:Q", title="seconds", scale=alt.Scale(nice=False), axis=_seconds()),
            fill=alt.Fill("kind:N", scale=colour_scale(TIME), legend=None),
            order=alt.Order("stack:Q"),
            description=mark(),
        )
    )
    return panel(
        ("wall-time", "", ""), "Wall time by activity", chart, rows, WALL_PX, WIDTHS_PX["twos"]
    )


def _seconds(grid: bool = False) -> alt.Axis:
    return alt.Axis(grid=grid, tickCount=6, labelOverlap=True)


def _bring_up(view: View) -> Figure:
    rows = list(_phase_rows(view))
    shown = styles(list(dict.fromkeys(row["series"] for row in rows)))
    phases = list(dict.fromkeys(row["phase"] for row in rows))
    return Figure(
        **titled("bring-up"),
        panels=(_phase_panel(rows, phases, shown),),
        legend=legend(shown),
        table=DataTable(
            (Column("Build"), *(Column(phase, numeric=True) for phase in phases)),
            tuple(
                (build.build, *(quantity(build.phases_s.get(phase), "s") for phase in phases))
                for build in view.summary.builds
            ),
        ),
        layout="twos",
    )


def _phase_rows(view: View) -> Iterator[Row]:
    """By density; where a topology has no trial that tells it, the topology's name stands for it."""
    summary = view.summary
    densities = {trial.topology: trial.vms_per_host for trial in summary.trials}
    order = sorted(enumerate(summary.builds), key=lambda pair: densities.get(pair[1].topology) or 0)
    for at, build in order:
        density = densities.get(build.topology)
        series = build.topology if density is None else view.density_in_words(density)
        for phase, seconds in build.phases_s.items():
            token = phase.replace("~", "~0").replace("/", "~1")  # RFC 6901
            yield {
                "ref": f"/builds/{at}/phases_s/{token}",
                "part": "value",
                "phase": phase,
                "series": series,
                "value": seconds,
                "tip": f"{build.build}, {phase}: {duration(seconds)}",
            }


def _phase_panel(rows: list[Row], phases: list[str], shown: dict[str, Style]) -> Panel:
    names_px = LETTER_PX * max(map(len, phases))
    names = alt.Axis(grid=True, labelLimit=150, minExtent=min(names_px, 150))
    chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_point(filled=True, size=52, opacity=0.75)
        .encode(
            x=alt.X("value:Q", title="seconds", axis=_seconds(grid=True)),
            y=alt.Y("phase:N", sort=phases, title=None, axis=names),
            yOffset=alt.YOffset("series:N", sort=list(shown)),
            **series_look(shown),
            description=mark(),
        )
    )
    height_px = AXIS_PX + PHASE_PX * len(phases)
    what = "Bring-up seconds by phase"
    return panel(("bring-up", "", ""), what, chart, rows, height_px, WIDTHS_PX["twos"])
