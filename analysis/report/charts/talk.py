"""The six charts of the talk that this project reproduces (Shvachko and Sundar, ApacheCon NA 2013).

A chart is drawn only if the run has what it compares; otherwise the report says which study keys to set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.report.charts.chart import Chart, by_arm, draw
from analysis.report.charts.course import course
from analysis.report.charts.figure import Figure
from analysis.report.charts.observations import Names, Observation, observations
from analysis.report.charts.palette import styles
from analysis.report.charts.quantity import digits
from analysis.report.charts.sections import latency_words, point_notes
from analysis.summary.summary import Metric, Summary

MIXED = "read45-insert55"
MIXES = {"load": "data load", MIXED: "45/55", "scan95-insert5": "scan"}
TAIL = 99.0
Drawn = tuple[Figure | None, Sequence[str]]


@dataclass(frozen=True)
class TalkChart:
    """One of the six: its figure, or what the run lacks for it."""

    number: int
    title: str
    figure: Figure | None
    needs: tuple[str, ...] = ()


def talk_charts(summary: Summary, names: Names) -> tuple[TalkChart, ...]:
    """All six, in the talk's order."""
    talk = _Talk(summary, names)
    made = []
    for number, (title, maker) in enumerate(_MAKERS, start=1):
        figure, needs = maker(talk)
        if figure is not None:
            figure = replace(figure, id=f"talk-{number}", title=f"{number}. {title}", panels=tuple(
                replace(one, id=f"talk-{number}-{at}") for at, one in enumerate(figure.panels)
            ))  # fmt: skip
        made.append(TalkChart(number, title, figure, tuple(needs)))
    return tuple(made)


@dataclass(frozen=True)
class _Talk:
    summary: Summary
    names: Names

    def random_read(self) -> Drawn:
        seen = sorted(self._seen("throughput_map_phase", {"random"}), key=_density)
        needs = [
            *_both_media(seen),
            *_several(
                "numbers of readers for testdfsio's random mode", [o.setting.files for o in seen]
            ),
        ]
        chart = self._chart(
            caption="Over the map phase, by readers that ran concurrently; one line per medium.",
            panel=lambda o: (str(_density(o)), self._words(o), "random read"),
            mark="curve",
            x=_readers,
            tip=lambda o: f"{self.names.arm(o.setting)}, {digits(_readers(o))} at once",
            axis="maps that ran concurrently",
            height_px=224,
        )
        return self._draw(chart, seen, needs)

    def three_workloads(self) -> Drawn:
        seen = self._at_most_threads(self._seen("throughput", MIXES))
        seen.sort(key=lambda o: (_density(o), o.setting.records or 0))
        chart = self._chart(
            caption="Successful operations per second, at the highest number of threads per workload.",
            panel=lambda o: (
                f"{_density(o)}-{o.setting.records}", self._words(o), f"{o.setting.records:,} records"
            ),
            x=lambda o: MIXES[str(o.setting.mode)],
            axis="workload",
            ticks=tuple(MIXES.values()),
        )  # fmt: skip
        return self._draw(chart, seen, [*_valid_mixes(seen, tuple(MIXES)), *_both_media(seen)])

    def throughput_by_threads(self) -> Drawn:
        caption = "Successful operations per second, by client threads; one line per density."
        return self._by_threads(self._seen("throughput", MIXES), caption, lambda _: "", log=False)

    def latency_by_threads(self) -> Drawn:
        caption = (
            "p99 by client threads, unthrottled; one line per density. Closed-loop latency hides "
            "waiting: the talk measured it, but users wait longer."
        )
        return self._by_threads(self._tails(MIXES), caption, latency_words, log=True)

    def _by_threads(
        self, seen: list[Observation], caption: str, words: Callable[[Metric], str], log: bool
    ) -> Drawn:
        densities = sorted({_density(one) for one in seen})
        needs = [
            *_several("numbers of threads for ycsb", [one.setting.threads for one in seen]),
            *_several("densities (vms_per_host)", densities),
        ]

        def key(one: Observation) -> tuple[str, str, str]:
            arm, records = self.names.arm(one.setting), f"{one.setting.records or 0:,} records"
            parts = ", ".join(part for part in (words(one.metric), arm, records) if part)
            return f"{one.setting.mode} {parts}", MIXES[str(one.setting.mode)], parts

        order = list(MIXES)
        seen = sorted(seen, key=lambda o: (order.index(str(o.setting.mode)), key(o)))
        chart = self._chart(
            caption=caption,
            panel=key,
            mark="curve",
            x=lambda o: o.setting.threads or 0,
            series=self._words,
            tip=lambda o: f"{self._words(o)}, {o.setting.threads} threads",
            axis="threads",
            styles=styles([self.names.density_in_words(density) for density in densities]),
            log=log,
            height_px=224,
        )
        return self._draw(chart, seen, needs)

    def cpu_over_time(self) -> Drawn:
        return course(self.summary, self.names)

    def mixed_latency(self) -> Drawn:
        seen = self._at_most_threads(self._tails({MIXED}))
        seen.sort(key=lambda o: (_density(o), latency_words(o.metric), o.setting.records or 0))
        sizes = sorted({one.setting.records or 0 for one in seen})
        needs = [
            *_valid_mixes(seen, (MIXED,)),
            *_both_media(seen),
            *_several("sizes (ycsb's records)", sizes),
        ]
        chart = self._chart(
            caption="p99 of the 45/55 mix at the highest number of threads, by records; both media.",
            panel=lambda o: (
                f"{_density(o)} {latency_words(o.metric)}", self._words(o), latency_words(o.metric)
            ),
            x=lambda o: f"{o.setting.records or 0:,}",
            axis="records",
            ticks=tuple(f"{size:,}" for size in sizes),
            log=True,
        )  # fmt: skip
        return self._draw(chart, seen, needs)

    def _draw(self, chart: Chart, seen: list[Observation], needs: list[str]) -> Drawn:
        if needs:
            return None, needs
        notes = point_notes(self.summary)
        if chart.mark == "curve":  # shows no single builds
            has_intervals = any(one.metric.low is not None for one in seen)
            notes = (
                ("Bars are intervals; a bar shorter than its point is hidden behind it.",)
                if has_intervals
                else ("Too few builds for intervals, so differences are not claims.",)
            )
        return draw(replace(chart, notes=notes), seen, self.names), ()

    def _chart(self, **changes: object) -> Chart:
        """A chart with a series per arm, unless `changes` says otherwise. The talk's number is its id."""
        own = {"id": "", "title": "", "table": ("Number", _number)}
        return by_arm(self.summary, self.names, **(own | changes))

    def _seen(self, metric: str, modes: Iterable[str]) -> list[Observation]:
        """Known numbers of unthrottled settings of these modes that have a valid trial."""
        wanted = set(modes)
        return [
            one
            for one in observations(self.summary, {metric})
            if one.setting.mode in wanted
            and one.setting.target_ops_s is None
            and one.metric.value is not None
        ]

    def _tails(self, modes: Iterable[str]) -> list[Observation]:
        return [one for one in self._seen("latency", modes) if one.metric.percentile == TAIL]

    def _at_most_threads(self, seen: list[Observation]) -> list[Observation]:
        """Those with the highest number of threads of their mode."""
        most: dict[str | None, int] = {}
        for one in seen:
            mode = one.setting.mode
            most[mode] = max(most.get(mode, 0), one.setting.threads or 0)
        return [one for one in seen if (one.setting.threads or 0) == most[one.setting.mode]]

    def _words(self, one: Observation) -> str:
        return self.names.density_in_words(_density(one))


def _density(one: Observation) -> int:
    return one.setting.vms_per_host


def _readers(one: Observation) -> float:
    """Maps that ran concurrently; the number of files where that is not known."""
    ran = next((m.value for m in one.setting.metrics if m.name == "concurrent_maps"), None)
    return float(ran if ran is not None else one.setting.files or 0)


def _number(metric: Metric) -> str:
    return latency_words(metric) if metric.name == "latency" else metric.name.replace("_", " ")


def _both_media(seen: Iterable[Observation]) -> Iterator[str]:
    media = sorted({one.setting.medium for one in seen})
    if len(media) < 2:
        yield f"both media (factors.medium: [hdd, flash]); {_has(media)}"


def _several(what: str, values: Iterable[object]) -> Iterator[str]:
    known = sorted({str(one) for one in values if one is not None})
    if len(known) < 2:
        yield f"two or more {what}; {_has(known)}"


def _valid_mixes(seen: Iterable[Observation], wanted: Sequence[str]) -> Iterator[str]:
    have = {one.setting.mode for one in seen}
    missing = [mix for mix in wanted if mix not in have]
    if missing:
        yield f"valid ycsb trials of {' and '.join(missing)}"


def _has(values: Sequence[str]) -> str:
    return f"this run has {', '.join(values)}" if values else "this run has none"


_MAKERS: tuple[tuple[str, Callable[[_Talk], Drawn]], ...] = (
    ("TestDFSIO random read by concurrent readers, HDD and flash", _Talk.random_read),
    ("YCSB throughput of the three workloads, HDD and flash", _Talk.three_workloads),
    ("Throughput by client threads and density", _Talk.throughput_by_threads),
    ("Latency by client threads and density", _Talk.latency_by_threads),
    ("CPU over time, bare host beside VMs", _Talk.cpu_over_time),
    ("Latency of the 45/55 mix by records, HDD and flash", _Talk.mixed_latency),
)
