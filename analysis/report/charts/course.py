"""CPU over time at the lowest density beside the highest: the course of one trial of each."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from analysis.report.charts.axis import vertical
from analysis.report.charts.figure import (
    DATA,
    Column,
    DataTable,
    Figure,
    Panel,
    colour_scale,
    finished,
)
from analysis.report.charts.legend import legend
from analysis.report.charts.observations import Names, Row
from analysis.report.charts.palette import CPU
from analysis.report.charts.quantity import quantity
from analysis.summary.series import CpuSeries
from analysis.summary.summary import Summary, TrialSummary

HEIGHT_PX = 208
_FIRST = ("scan95-insert5", "read45-insert55", "load", "random")
SizingResult = tuple[TrialSummary, str, CpuSeries, int]
"""A trial, the place of its host's series in the summary, that series, and its step in seconds."""


def course(summary: Summary, names: Names, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    """The figure, or what is lacking for it."""
    found = list(_hosts(summary))
    pairs = list(_pairs(found, summary))
    if not pairs:
        had = sorted({names.density_in_words(trial.vms_per_host) for trial, *_ in found})
        told = f"this run has {', '.join(had)}" if had else "this run has none"
        return None, [f"valid trials of one workload, with host samples, at two densities; {told}"]
    panels = tuple(_panel(one, names, f"{id_}-{at}") for at, one in enumerate(pairs[0]))
    label = next(one.label for one in summary.settings if one.setting == pairs[0][0][0].setting)
    return (
        Figure(
            id=id_,
            title=title,
            caption=f"{label}: the host's CPU in one trial of each arm, second by second, between the "
            "workload's start and end. A single course has no interval; Host CPU below has.",
            panels=panels,
            legend=legend(CPU),
            table=_table(pairs[0], names),
            notes=tuple(_stand_in(pairs[0], names)),
            layout="twos",
        ),
        [],
    )


def _hosts(summary: Summary) -> Iterator[SizingResult]:
    """The first host's series of each valid trial."""
    trials = {trial.trial: trial for trial in summary.trials if trial.verdict == "valid"}
    for at, series in enumerate(summary.series):
        hosts = [
            (place, cpu) for place, cpu in enumerate(series.cpu) if cpu.scope.startswith("host:")
        ]
        if hosts and series.trial in trials:
            place, cpu = hosts[0]
            yield trials[series.trial], f"/series/{at}/cpu/{place}", cpu, series.step_s


def _pairs(
    found: list[SizingResult], summary: Summary
) -> Iterator[tuple[SizingResult, SizingResult]]:
    """Lowest and highest density of each setting on each medium; the talk's workload first."""
    modes = {one.setting: one.mode or one.setting for one in summary.settings}
    by_arm: dict[tuple[str, str], list[SizingResult]] = {}
    for one in sorted(found, key=lambda one: one[0].vms_per_host):
        by_arm.setdefault((one[0].setting, one[0].medium), []).append(one)
    for setting, _ in sorted(by_arm, key=lambda key: _place(modes.get(key[0], key[0]))):
        arm = next(arms for key, arms in by_arm.items() if key[0] == setting)
        if arm[0][0].vms_per_host != arm[-1][0].vms_per_host:
            yield arm[0], next(one for one in arm if one[0].vms_per_host == arm[-1][0].vms_per_host)


def _place(mode: str) -> int:
    return next((at for at, word in enumerate(_FIRST) if word in mode), len(_FIRST))


def _panel(one: SizingResult, names: Names, id_: str) -> Panel:
    trial = one[0]
    rows = list(_rows(one))
    title = names.density_in_words(trial.vms_per_host)
    subtitle = f"{names.medium(trial.medium)}, {one[2].scope}, {trial.trial}"
    chart = (
        alt.Chart(alt.NamedData(DATA))
        .mark_bar(binSpacing=0)
        .encode(
            x=alt.X(
                "at:Q",
                bin="binned",
                title="seconds after the workload's start",
                scale=alt.Scale(nice=False),
            ),
            x2="end:Q",
            y=vertical("% of the host's cores", domain=(0.0, 100.0)),
            fill=alt.Fill("kind:N", scale=colour_scale(CPU), legend=None),
            order=alt.Order("stack:Q"),
            tooltip=alt.Tooltip("tip:N"),
        )
    )
    said = f"Host CPU by kind over time, {title}, {subtitle}. {_told(one)}"
    return Panel(id_, title, subtitle, said, HEIGHT_PX, finished(chart, rows, HEIGHT_PX))


def _rows(one: SizingResult) -> Iterator[Row]:
    trial, ref, cpu, step_s = one
    end_s = trial.measure_s if trial.measure_s is not None else float("inf")
    for stack, kind in enumerate(CPU):
        for place, value in enumerate(getattr(cpu, kind)):
            at = cpu.at_s[place]
            if value is not None and 0 <= at < end_s:
                yield {
                    "ref": f"{ref}/{kind}/{place}",
                    "part": "value",
                    "at": at,
                    "end": at + step_s,
                    "kind": kind,
                    "stack": stack,
                    "value": value,
                    "tip": f"second {at}, {kind}: {quantity(value, 'percent')}",
                    "of": [trial.setting, str(trial.vms_per_host), trial.medium],
                }


def _told(one: SizingResult) -> str:
    idle = [row["value"] for row in _rows(one) if row["kind"] == "idle"]
    if not idle:
        return "Idle time is not known."
    return f"Idle between {quantity(min(idle), 'percent')} and {quantity(max(idle), 'percent')}."


def _table(pair: tuple[SizingResult, SizingResult], names: Names) -> DataTable:
    kinds = (Column(kind, numeric=True) for kind in CPU)
    columns = (Column("Trial"), Column("Second", numeric=True), *kinds)
    rows = []
    for one in pair:
        cells: dict[int, dict[str, float]] = {}
        for row in _rows(one):
            cells.setdefault(row["at"], {})[row["kind"]] = row["value"]
        trial = f"{names.density_in_words(one[0].vms_per_host)}, {one[0].trial}"
        rows += [
            (trial, quantity(at, "s"), *(quantity(by.get(kind), "percent") for kind in CPU))
            for at, by in sorted(cells.items())
        ]
    return DataTable(columns, tuple(rows))


def _stand_in(pair: tuple[SizingResult, SizingResult], names: Names) -> Iterator[str]:
    lowest, highest = (one[0].vms_per_host for one in pair)
    if lowest != 0:
        yield (
            f"The talk sets the bare host beside VMs; this run has no bare host: the lowest density is "
            f"{names.density_in_words(lowest)}."
        )
    if names.process and highest:
        yield "Workers are groups of processes here, a stand-in for VMs."
