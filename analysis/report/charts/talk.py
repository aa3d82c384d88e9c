"""The six charts of the talk this project reproduces (Shvachko and Sundar, ApacheCon NA 2013).

Each is drawn only where the run has what it compares; else it says what a study would have to ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from analysis.report.charts.course import course
from analysis.report.charts.curve import CurveAxes, curve_panel, curve_rows
from analysis.report.charts.datatable import observation_table
from analysis.report.charts.density import Axes, panel, rows_of
from analysis.report.charts.figure import Figure, Panel
from analysis.report.charts.legend import arm_styles, legend, point_notes
from analysis.report.charts.needs import both_media, mixes, several
from analysis.report.charts.observations import Names, Observation, observations
from analysis.report.charts.palette import styles
from analysis.summary.summary import Metric, SettingSummary, Summary

MIXES = ("load", "read45-insert55", "scan95-insert5")
MIXED = "read45-insert55"
TAIL = 99.0


@dataclass(frozen=True)
class TalkChart:
    """One of the six: its figure, or in `needs` why it is not drawn."""

    number: int
    title: str
    figure: Figure | None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Run:
    """What every chart is made of. Only settings with a valid trial count as there."""

    summary: Summary
    names: Names
    settings: tuple[SettingSummary, ...]

    def seen(self, metric: str, mode: Iterable[str]) -> list[Observation]:
        """Known numbers called `metric`, of settings of these modes at no given rate."""
        modes = set(mode)
        return [
            one
            for one in observations(self.summary, {metric})
            if one.setting.mode in modes
            and one.setting.target_ops_s is None
            and one.metric.value is not None
        ]


Key = TypeVar("Key", int, str, tuple[Any, ...])
Maker = Callable[[_Run, str, str], tuple[Figure | None, list[str]]]


def talk_charts(summary: Summary, names: Names) -> tuple[TalkChart, ...]:
    """All six, in the talk's order."""
    settings = tuple(one for one in summary.settings if one.n_builds > 0)
    run = _Run(summary, names, settings)
    made = []
    for number, (title, maker) in enumerate(_MAKERS, start=1):
        figure, needs = maker(run, f"talk-{number}", f"{number}. {title}")
        made.append(TalkChart(number, title, figure if not needs else None, tuple(needs)))
    return tuple(made)


def _random_read(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    seen = run.seen("throughput_map_phase", {"random"})
    needs = [
        *both_media(one.setting for one in seen),
        *several("numbers of readers for testdfsio's random mode", {s.setting.files for s in seen}),
    ]
    if needs:
        return None, needs
    axes = CurveAxes("maps that really ran at once", "MiB/s", arm_styles(run.summary, run.names))
    panels: list[Panel] = []
    for density, same in _groups(seen, lambda one: one.setting.vms_per_host):
        rows = [
            row
            for arm, mine in _groups(same, lambda one: run.names.arm(one.setting))
            for row in curve_rows(_by_readers(mine), arm, "at once")
        ]
        words = run.names.density_in_words(density)
        panels.append(curve_panel(f"{id_}-{density}", words, "random read", rows, axes))
    caption = "Over the map phase, by readers that really ran at once; a line a medium."
    return _figure(run, id_, title, caption, panels, seen), []


def _by_readers(seen: Sequence[Observation]) -> list[tuple[float, Observation]]:
    found = []
    for one in seen:
        ran = next((m.value for m in one.setting.metrics if m.name == "concurrent_maps"), None)
        at = ran if ran is not None else one.setting.files
        if at is not None:
            found.append((float(at), one))
    return found


def _three_workloads(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    seen = run.seen("throughput", MIXES)
    needs = [*mixes(seen, MIXES), *both_media(one.setting for one in seen)]
    if needs:
        return None, needs
    seen = [one for one in seen if one.setting.threads == _most_threads(seen, one)]
    arms = arm_styles(run.summary, run.names)
    panels: list[Panel] = []
    for (density, records), same in _groups(
        seen, lambda one: (one.setting.vms_per_host, one.setting.records or 0)
    ):
        rows = [
            {**row, "density": _mix(one.setting)}
            for one in same
            for row in rows_of(one, run.names, run.names.arm(one.setting))
        ]
        axes = Axes(tuple(map(_word, MIXES)), "workload", "ops/s", arms)
        words = run.names.density_in_words(density)
        panels.append(
            panel(f"{id_}-{density}-{records}", words, f"{records:,} records", rows, axes)
        )
    caption = "Operations that succeeded per second, at the most threads of each workload."
    return _figure(run, id_, title, caption, panels, seen), []


def _most_threads(seen: Sequence[Observation], like: Observation) -> int | None:
    same = [one.setting.threads or 0 for one in seen if one.setting.mode == like.setting.mode]
    return max(same) or None


def _throughput_by_threads(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    seen = run.seen("throughput", MIXES)
    caption = "Operations that succeeded per second, by threads of the client; a line a density."
    return _by_threads(run, id_, title, caption, seen, "ops/s", lambda _: "")


def _latency_by_threads(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    seen = [one for one in run.seen("latency", MIXES) if one.metric.percentile == TAIL]
    caption = (
        "p99 by threads of the client, as fast as it goes; a line a density. Closed-loop latency hides "
        "waiting: it is what the talk could measure, not what a user would have waited."
    )
    return _by_threads(run, id_, title, caption, seen, "ms", lambda one: _latency(one.metric))


def _by_threads(
    run: _Run,
    id_: str,
    title: str,
    caption: str,
    seen: list[Observation],
    unit: str,
    what: Callable[[Observation], str],
) -> tuple[Figure | None, list[str]]:
    needs = [
        *several("numbers of threads for ycsb", {one.setting.threads for one in seen}),
        *several("densities (vms_per_host)", {one.setting.vms_per_host for one in seen}),
    ]
    if needs:
        return None, needs
    shown = styles([run.names.density_in_words(density) for density in _densities(seen)])
    axes = CurveAxes("threads", unit, shown, log=unit == "ms")

    def key(one: Observation) -> tuple[int, str, str, int]:
        mode = MIXES.index(str(one.setting.mode))
        return mode, what(one), run.names.arm(one.setting), one.setting.records or 0

    panels: list[Panel] = []
    for (_, said, arm, records), same in _groups(seen, key):
        rows = [
            row
            for density, mine in _groups(same, lambda one: one.setting.vms_per_host)
            for row in curve_rows(
                [(float(one.setting.threads or 0), one) for one in mine],
                run.names.density_in_words(density),
                "threads",
            )
        ]
        subtitle = ", ".join(part for part in (said, arm, f"{records:,} records") if part)
        panels.append(
            curve_panel(f"{id_}-{len(panels)}", _mix(same[0].setting), subtitle, rows, axes)
        )
    figure = _figure(run, id_, title, caption, panels, seen)
    return Figure(**{**vars(figure), "legend": legend(shown)}), []


def _cpu_over_time(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    return course(run.summary, run.names, id_, title)


def _mixed_latency(run: _Run, id_: str, title: str) -> tuple[Figure | None, list[str]]:
    seen = [one for one in run.seen("latency", {MIXED}) if one.metric.percentile == TAIL]
    needs = [
        *mixes(seen, (MIXED,)),
        *both_media(one.setting for one in seen),
        *several("sizes (ycsb's records)", {one.setting.records for one in seen}),
    ]
    if needs:
        return None, needs
    seen = [one for one in seen if one.setting.threads == _most_threads(seen, one)]
    sizes = tuple(f"{records:,}" for records in sorted({one.setting.records or 0 for one in seen}))
    axes = Axes(sizes, "records", "ms", arm_styles(run.summary, run.names), log=True)
    panels: list[Panel] = []
    for (density, said), same in _groups(
        seen, lambda one: (one.setting.vms_per_host, _latency(one.metric))
    ):
        rows = [
            {**row, "density": f"{one.setting.records or 0:,}"}
            for one in same
            for row in rows_of(one, run.names, run.names.arm(one.setting))
        ]
        words = run.names.density_in_words(density)
        panels.append(panel(f"{id_}-{len(panels)}", words, said, rows, axes))
    caption = "p99 of the 45/55 mix at the most threads, by records; both media."
    return _figure(run, id_, title, caption, panels, seen), []


def _figure(
    run: _Run,
    id_: str,
    title: str,
    caption: str,
    panels: list[Panel],
    seen: list[Observation],
) -> Figure:
    return Figure(
        id=id_,
        title=title,
        caption=caption,
        panels=tuple(panels),
        legend=legend(arm_styles(run.summary, run.names)),
        table=observation_table(seen, run.names, "Number", _told),
        notes=_notes(run, panels, seen),
    )


def _notes(run: _Run, panels: list[Panel], seen: list[Observation]) -> tuple[str, ...]:
    """How to read the marks. A curve shows no single builds."""
    if any(row["part"] == "unit" for one in panels for row in one.rows):
        return point_notes(run.summary)
    if any(one.metric.low is not None for one in seen):
        return ("Bars are intervals; one that cannot be seen is shorter than its point.",)
    return ("Too few builds for intervals, so differences are not claims.",)


def _told(metric: Metric) -> str:
    return _latency(metric) if metric.name == "latency" else metric.name.replace("_", " ")


def _latency(metric: Metric) -> str:
    return f"{metric.operation} p{metric.percentile:g}, {metric.latency_kind}"


def _word(mix: str) -> str:
    return {"load": "data load", MIXED: "45/55", "scan95-insert5": "scan"}[mix]


def _mix(setting: SettingSummary) -> str:
    return _word(str(setting.mode))


def _densities(seen: Iterable[Observation]) -> list[int]:
    return sorted({one.setting.vms_per_host for one in seen})


def _groups(
    seen: Iterable[Observation], key: Callable[[Observation], Key]
) -> Iterator[tuple[Key, list[Observation]]]:
    """Observations of equal key, in the keys' order."""
    groups: dict[Key, list[Observation]] = {}
    for one in seen:
        groups.setdefault(key(one), []).append(one)
    yield from sorted(groups.items(), key=lambda item: item[0])


_MAKERS: tuple[tuple[str, Maker], ...] = (
    ("TestDFSIO random read against concurrent readers, HDD and flash", _random_read),
    ("YCSB throughput of the three workloads, HDD and flash", _three_workloads),
    ("Throughput against client threads, by density", _throughput_by_threads),
    ("Latency against client threads, by density", _latency_by_threads),
    ("CPU over time, bare host beside VMs", _cpu_over_time),
    ("Latency of the 45/55 mix, HDD and flash, by records", _mixed_latency),
)
