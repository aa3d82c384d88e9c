"""CPU over time: one trial at the lowest density beside one at the highest."""

from __future__ import annotations

from collections.abc import Iterator

from density_study.analysis.report.charts.figure import (
    WIDTHS_PX,
    Column,
    DataTable,
    Figure,
    Panel,
    finished,
    legend,
    titled,
)
from density_study.analysis.report.charts.inside import cpu_bars
from density_study.analysis.report.charts.observations import Row, View
from density_study.analysis.report.charts.palette import CPU
from density_study.analysis.report.charts.quantity import quantity, where
from density_study.analysis.summary.series import CpuSeries
from density_study.analysis.summary.summary import Summary, TrialSummary, unknown_first

HEIGHT_PX = 208
_PREFERRED = ("scan95-insert5", "read45-insert55", "load", "random")
# A trial, the pointer to its host's series in the summary, that series, and its step in seconds.
HostCourse = tuple[TrialSummary, str, CpuSeries, int]


def course(view: View) -> tuple[Figure | None, tuple[str, ...]]:
    """The figure, or what the run lacks for it."""
    summary = view.summary
    courses = list(_hosts(summary))
    pair = next(_pairs(courses, summary), None)
    if pair is None:
        have = sorted({view.density_in_words(trial.vms_per_host) for trial, *_ in courses})
        has = f"this run has {', '.join(have) or 'none'}"
        return None, (f"valid trials of one workload, with host samples, at two densities; {has}",)
    label = next(one.label for one in summary.test_cases if one.test_case == pair[0][0].test_case)
    beside = " beside ".join(view.density_in_words(one[0].vms_per_host) for one in pair)
    figure = Figure(
        **titled("talk-5", label=label) | {"title": f"CPU over time, {beside}"},
        panels=tuple(_panel(one, view) for one in pair),
        legend=legend(CPU),
        table=_table(pair, view),
        notes=tuple(_stand_ins(pair, view)),
        layout="twos",
    )
    return figure, ()


def _hosts(summary: Summary) -> Iterator[HostCourse]:
    """The first host's series of each counted trial."""
    trials = {trial.trial: trial for trial in summary.trials if trial.counted}
    for at, series in enumerate(summary.series):
        hosts = [i for i, cpu in enumerate(series.cpu) if cpu.scope.startswith("host:")]
        if series.trial in trials and hosts:
            ref = f"/series/{at}/cpu/{hosts[0]}"
            yield trials[series.trial], ref, series.cpu[hosts[0]], series.step_s


def _pairs(courses: list[HostCourse], summary: Summary) -> Iterator[tuple[HostCourse, HostCourse]]:
    """Lowest and highest density of each test case and disk type; the talk's workloads first."""
    modes = {one.test_case: one.mode or one.test_case for one in summary.test_cases}
    groups: dict[tuple[str, str], list[HostCourse]] = {}
    for one in sorted(courses, key=lambda one: unknown_first(one[0].vms_per_host)):
        groups.setdefault((one[0].test_case, one[0].disk_type), []).append(one)

    def preference(same: list[HostCourse]) -> int:
        mode = modes[same[0][0].test_case]
        return next((at for at, word in enumerate(_PREFERRED) if word in mode), len(_PREFERRED))

    for same in sorted(groups.values(), key=preference):
        highest = same[-1][0].vms_per_host
        if same[0][0].vms_per_host != highest:
            yield same[0], next(one for one in same if one[0].vms_per_host == highest)


def _panel(one: HostCourse, view: View) -> Panel:
    trial, rows = one[0], list(_rows(one))
    title = view.density_in_words(trial.vms_per_host)
    subtitle = f"{view.disk_type(trial.disk_type)}, {where(one[2].scope)}, {trial.trial}"
    idle = [row["value"] for row in rows if row["kind"] == "idle"]
    between = (
        f"Idle between {quantity(min(idle), 'percent')} and {quantity(max(idle), 'percent')}."
        if idle
        else "Idle time is not known."
    )
    description = f"Host CPU by kind over time, {title}, {subtitle}. {between}"
    spec = finished(cpu_bars(), rows, HEIGHT_PX)
    return Panel("", title, subtitle, description, spec, WIDTHS_PX["twos"])


def _rows(one: HostCourse) -> Iterator[Row]:
    trial, ref, cpu, step_s = one
    end_s = trial.measure_s if trial.measure_s is not None else float("inf")
    for stack, kind in enumerate(CPU):
        for index, value in enumerate(getattr(cpu, kind)):
            at = cpu.at_s[index]
            if value is not None and 0 <= at < end_s:
                yield {
                    "ref": f"{ref}/{kind}/{index}",
                    "part": "value",
                    "at": at,
                    "end": at + step_s,
                    "kind": kind,
                    "stack": stack,
                    "value": value,
                    "tip": f"second {at}, {kind}: {quantity(value, 'percent')}",
                    "of": [trial.test_case, str(trial.vms_per_host), trial.disk_type],
                }


def _table(pair: tuple[HostCourse, HostCourse], view: View) -> DataTable:
    kinds = (Column(kind, numeric=True) for kind in CPU)
    rows = []
    for one in pair:
        cells: dict[int, dict[str, float]] = {}
        for row in _rows(one):
            cells.setdefault(row["at"], {})[row["kind"]] = row["value"]
        trial = f"{view.density_in_words(one[0].vms_per_host)}, {one[0].trial}"
        rows += [
            (trial, quantity(at, "s"), *(quantity(by.get(kind), "percent") for kind in CPU))
            for at, by in sorted(cells.items())
        ]
    return DataTable((Column("Trial"), Column("Second", numeric=True), *kinds), tuple(rows))


def _stand_ins(pair: tuple[HostCourse, HostCourse], view: View) -> Iterator[str]:
    lowest, highest = (one[0].vms_per_host for one in pair)
    if lowest != 0:
        yield (
            "The talk compares the bare host with VMs. This run has no bare host: its lowest density is "
            f"{view.density_in_words(lowest)}."
        )
    if view.process and highest:
        yield "Workers are process groups here and only stand in for VMs."
    elif view.summary.isolation.facts.stand_in and highest:
        yield f"Nodes are {view.noun}s here, not VMs."
