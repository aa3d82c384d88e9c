"""Where time went: the run's wall time, and bring-up seconds by phase of every build."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from analysis.report.charts.figure import (
    DATA,
    Column,
    DataTable,
    Figure,
    Panel,
    colour_scale,
    describe,
    finished,
    legend,
    mark,
    series_look,
)
from analysis.report.charts.observations import Names, Row, pointer_token
from analysis.report.charts.palette import PAPER, TIME, Style, styles
from analysis.report.charts.quantity import duration, quantity
from analysis.summary.summary import BuildSummary, Summary

PHASE_PX = 26
AXIS_PX = 46
WALL_PX = 84
WIDTH_PX = 1000


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    yield _wall(summary)
    if any(build.phases_s for build in summary.builds):
        yield _bring_up(summary, names)


def _wall(summary: Summary) -> Figure:
    rows = list(_wall_rows(summary))
    spent = {row["kind"]: row["value"] for row in rows}
    unfinished = [kind for kind in TIME if kind not in spent]
    notes = [
        f"{kind.capitalize()} had not finished when this report was written." for kind in unfinished
    ]
    return Figure(
        id="wall-time",
        title="Wall time of the run",
        caption=f"{duration(summary.time.total_s)} in total. Measuring: from a workload's start to its "
        "exit. Building: bring-up and tear-down. Waiting: all other time before the analysis (preparing, "
        "settling, between steps).",
        panels=(_wall_panel(rows),),
        legend=legend({f"{kind} {duration(s)}": TIME[kind] for kind, s in spent.items()}),
        table=DataTable(
            (Column("Activity"), Column("Time", numeric=True), Column("Seconds", numeric=True)),
            tuple((kind, duration(s), quantity(s, "s")) for kind, s in spent.items()),
        ),
        notes=tuple(notes),
        layout="one",
    )


def _wall_rows(summary: Summary) -> Iterator[Row]:
    for index, kind in enumerate(TIME):
        value = getattr(summary.time, f"{kind}_s")
        if value is not None:
            yield {
                "ref": f"/time/{kind}_s",
                "part": "value",
                "kind": kind,
                "stack": index,
                "value": value,
                "tip": f"{kind}: {duration(value)}",
            }


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
    words = describe("Wall time by activity", rows)
    return Panel("wall-time", "", "", words, finished(chart, rows, WALL_PX), WIDTH_PX)


def _seconds(grid: bool = False) -> alt.Axis:
    return alt.Axis(grid=grid, tickCount=6, labelOverlap=True)


def _bring_up(summary: Summary, names: Names) -> Figure:
    rows = list(_phase_rows(summary, names))
    shown = styles(list(dict.fromkeys(row["series"] for row in rows)))
    return Figure(
        id="bring-up",
        title="Bring-up",
        caption="Seconds per phase of bringing up a cluster, one point per build. "
        "Phases may overlap, so they need not add up to the total.",
        panels=(_phase_panel(rows, shown),),
        legend=legend(shown),
        table=_phase_table(summary),
        layout="one",
    )


def _phase_rows(summary: Summary, names: Names) -> Iterator[Row]:
    densities = {trial.topology: trial.vms_per_host for trial in summary.trials}
    order = sorted(enumerate(summary.builds), key=lambda pair: densities.get(pair[1].topology, 0))
    for at, build in order:
        series = _series(build, names, densities)
        for phase, seconds in build.phases_s.items():
            yield {
                "ref": f"/builds/{at}/phases_s/{pointer_token(phase)}",
                "part": "value",
                "phase": phase,
                "series": series,
                "value": seconds,
                "tip": f"{build.build}, {phase}: {duration(seconds)}",
            }


def _series(build: BuildSummary, names: Names, densities: dict[str, int]) -> str:
    """The density in words; the topology's name where no trial has its density."""
    if build.topology not in densities:
        return build.topology
    return names.density_in_words(densities[build.topology])


def _phase_panel(rows: list[Row], shown: dict[str, Style]) -> Panel:
    phases = list(dict.fromkeys(row["phase"] for row in rows))
    height_px = AXIS_PX + PHASE_PX * len(phases)
    chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_point(filled=True, size=52, opacity=0.75)
        .encode(
            x=alt.X("value:Q", title="seconds", axis=_seconds(grid=True)),
            y=alt.Y("phase:N", sort=phases, title=None, axis=alt.Axis(grid=True, labelLimit=150)),
            yOffset=alt.YOffset("series:N", sort=list(shown)),
            **series_look(shown),
            description=mark(),
        )
    )
    words = describe("Bring-up seconds by phase", rows)
    return Panel("bring-up", "", "", words, finished(chart, rows, height_px), WIDTH_PX)


def _phase_table(summary: Summary) -> DataTable:
    phases = list(dict.fromkeys(phase for build in summary.builds for phase in build.phases_s))
    columns = (Column("Build"), *(Column(phase, numeric=True) for phase in phases))
    rows = tuple(
        (build.build, *(quantity(build.phases_s.get(phase), "s") for phase in phases))
        for build in summary.builds
    )
    return DataTable(columns, rows)
