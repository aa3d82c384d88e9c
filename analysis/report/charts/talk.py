"""The six charts of the talk that this project reproduces (Shvachko and Sundar, ApacheCon NA 2013).

A chart is drawn only if the run has what it compares; otherwise the report says which study keys to set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from density_study.analysis.findings.variants import TAIL
from density_study.analysis.report.charts.chart import Chart, by_variant, draw
from density_study.analysis.report.charts.course import course
from density_study.analysis.report.charts.figure import TEXTS, Figure, titled
from density_study.analysis.report.charts.findings_table import claims_table
from density_study.analysis.report.charts.notes import point_notes
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.palette import styles
from density_study.analysis.report.charts.sections import latency_words
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Metric, unknown_first
from density_study.cluster.model.plain import counted

MIXED = "read45-insert55"
MIXES = {"load": "data load", MIXED: "45/55", "scan95-insert5": "scan"}
Drawn = tuple[Figure | None, Sequence[str]]


@dataclass(frozen=True)
class TalkChart:
    """One of the six: its figure, or what the run lacks for it."""

    number: int
    title: str
    figure: Figure | None
    needs: Sequence[str]


def talk_charts(view: View) -> tuple[TalkChart, ...]:
    """All six, in the talk's order; none for a run that can judge none of the talk's claims."""
    if not claims_table(view.summary).rows:
        return ()
    made = []
    for number, maker in enumerate(_MAKERS, start=1):
        figure, needs = maker(view)
        if figure is not None:
            panels = enumerate(figure.panels)
            numbered = tuple(replace(one, id=f"talk-{number}-{at}") for at, one in panels)
            figure = replace(figure, title=f"{number}. {figure.title}", panels=numbered)
        made.append(TalkChart(number, TEXTS[f"talk-{number}"]["title"], figure, needs))
    return tuple(made)


def _random_read(view: View) -> Drawn:
    found = _seen(view, "throughput_map_phase", {"random"})
    seen = sorted(found, key=lambda one: unknown_first(_density(one)))
    readers = [one.test_case.count("files") for one in seen]
    needs = [
        *_both_disk_types(seen),
        *_several("numbers of readers for testdfsio's random mode", readers),
    ]
    chart = _chart(
        view,
        "talk-1",
        panel=lambda o: (str(_density(o)), _words(view, o), "random read"),
        mark="curve",
        x=_readers,
        tip=lambda o: f"{view.variant(o.test_case)}, {digits(_readers(o))} at once",
        axis="maps that ran concurrently",
        height_px=224,
    )
    return _draw(view, chart, seen, needs)


def _three_workloads(view: View) -> Drawn:
    seen = _at_most_threads(_seen(view, "throughput", MIXES))
    seen.sort(key=lambda o: (_density(o), o.test_case.count("records") or 0))
    chart = _chart(
        view,
        "talk-2",
        panel=lambda o: (
            f"{_density(o)}-{o.test_case.count('records')}", _words(view, o),
            f"{o.test_case.count('records') or 0:,} records"
        ),
        x=lambda o: MIXES[str(o.test_case.mode)],
        axis="workload",
        ticks=tuple(MIXES.values()),
    )  # fmt: skip
    return _draw(view, chart, seen, [*_valid_mixes(seen, MIXES), *_both_disk_types(seen)])


def _throughput_by_threads(view: View) -> Drawn:
    seen = _seen(view, "throughput", MIXES)
    return _by_threads(view, "talk-3", seen, words=lambda _: "", log=False)


def _latency_by_threads(view: View) -> Drawn:
    return _by_threads(view, "talk-4", _tails(view, MIXES), latency_words, log=True)


def _by_threads(
    view: View, id_: str, seen: list[Observation], words: Callable[[Metric], str], log: bool
) -> Drawn:
    densities = sorted({_density(one) for one in seen}, key=unknown_first)
    needs = [
        *_several("numbers of threads for ycsb", [one.test_case.count("threads") for one in seen]),
        *_several("densities (vms_per_host)", densities),
    ]

    def key(one: Observation) -> tuple[str, str, str]:
        variant, records = (
            view.variant(one.test_case),
            f"{one.test_case.count('records') or 0:,} records",
        )
        parts = ", ".join(filter(None, (words(one.metric), variant, records)))
        return f"{one.test_case.mode} {parts}", MIXES[str(one.test_case.mode)], parts

    order = list(MIXES)
    seen = sorted(seen, key=lambda o: (order.index(str(o.test_case.mode)), key(o)))
    chart = _chart(
        view,
        id_,
        panel=key,
        mark="curve",
        x=lambda o: o.test_case.count("threads") or 0,
        series=lambda o: _words(view, o),
        tip=lambda o: f"{_words(view, o)}, {counted(o.test_case.count('threads') or 0, 'thread')}",
        axis="threads",
        styles=styles([view.density_in_words(density) for density in densities]),
        log=log,
        height_px=224,
    )
    return _draw(view, chart, seen, needs)


def _mixed_latency(view: View) -> Drawn:
    seen = _at_most_threads(_tails(view, {MIXED}))
    seen.sort(
        key=lambda o: (_density(o), latency_words(o.metric), o.test_case.count("records") or 0)
    )
    sizes = sorted({one.test_case.count("records") or 0 for one in seen})
    needs = [
        *_valid_mixes(seen, (MIXED,)),
        *_both_disk_types(seen),
        *_several("sizes (ycsb's records)", sizes),
    ]
    chart = _chart(
        view,
        "talk-6",
        panel=lambda o: (
            f"{_density(o)} {latency_words(o.metric)}", _words(view, o), latency_words(o.metric)
        ),
        x=lambda o: f"{o.test_case.count('records') or 0:,}",
        axis="records",
        ticks=tuple(f"{size:,}" for size in sizes),
        log=True,
    )  # fmt: skip
    return _draw(view, chart, seen, needs)


def _draw(view: View, chart: Chart, seen: list[Observation], needs: list[str]) -> Drawn:
    if needs:
        return None, needs
    note = point_notes(view)
    if chart.mark == "curve":  # shows no single builds
        note = (
            "Bars are intervals; a bar shorter than its point is hidden behind it."
            if any(one.metric.low is not None for one in seen)
            else "Too few builds for intervals, so differences are not claims."
        )
    return draw(replace(chart, notes=(note,)), seen, view), ()


def _chart(view: View, id_: str, **changes: Any) -> Chart:
    """A chart with a series per variant."""
    return by_variant(view, **titled(id_), table=("Number", _number), **changes)


def _seen(view: View, metric: str, modes: Collection[str]) -> list[Observation]:
    """Known numbers of unthrottled test cases of these modes that have a valid trial."""
    return [
        one
        for one in view.observations({metric})
        if one.test_case.mode in modes
        and one.test_case.target_ops_s is None
        and one.test_case.sought is None
        and one.metric.value is not None
    ]


def _tails(view: View, modes: Collection[str]) -> list[Observation]:
    return [one for one in _seen(view, "latency", modes) if one.metric.percentile == TAIL]


def _at_most_threads(seen: list[Observation]) -> list[Observation]:
    """The observations with the highest number of threads of their mode."""
    most: dict[str | None, int] = {}
    for one in seen:
        mode = one.test_case.mode
        most[mode] = max(most.get(mode, 0), one.test_case.count("threads") or 0)
    return [
        one for one in seen if (one.test_case.count("threads") or 0) == most[one.test_case.mode]
    ]


def _words(view: View, one: Observation) -> str:
    return view.density_in_words(_density(one))


def _density(one: Observation) -> int | None:
    return one.test_case.vms_per_host


def _readers(one: Observation) -> float:
    """Maps that ran concurrently; the number of files where that is not known."""
    ran = next((m.value for m in one.test_case.metrics if m.name == "concurrent_maps"), None)
    return float(ran if ran is not None else one.test_case.count("files") or 0)


def _number(metric: Metric) -> str:
    return latency_words(metric) if metric.name == "latency" else metric.name.replace("_", " ")


def _both_disk_types(seen: Iterable[Observation]) -> Iterator[str]:
    disk_types = sorted({one.test_case.disk_type for one in seen})
    if len(disk_types) < 2:
        yield f"both disk types (factors.disk_type: [hdd, flash]); {_has(disk_types)}"


def _several(what: str, values: Iterable[object]) -> Iterator[str]:
    known = sorted({str(one) for one in values if one is not None})
    if len(known) < 2:
        yield f"two or more {what}; {_has(known)}"


def _valid_mixes(seen: Iterable[Observation], wanted: Iterable[str]) -> Iterator[str]:
    have = {one.test_case.mode for one in seen}
    missing = [mix for mix in wanted if mix not in have]
    if missing:
        yield f"valid ycsb trials of {' and '.join(missing)}"


def _has(values: Sequence[str]) -> str:
    return f"this run has {', '.join(values)}" if values else "this run has none"


_MAKERS: tuple[Callable[[View], Drawn], ...] = (
    _random_read,
    _three_workloads,
    _throughput_by_threads,
    _latency_by_threads,
    course,
    _mixed_latency,
)
