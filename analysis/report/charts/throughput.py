"""Throughput by density: YCSB's operations, and TestDFSIO's three rates under their own names."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.charts.datatable import observation_table
from analysis.report.charts.density import Axes, densities, panel, rows_of
from analysis.report.charts.figure import Figure, Panel
from analysis.report.charts.legend import arm_styles, legend, point_notes
from analysis.report.charts.observations import Names, Observation, observations
from analysis.report.charts.undrawn import settings_without_trials, uncomputed
from analysis.summary.summary import Summary

RATES = {
    "throughput": "operations that succeeded",
    "throughput_map_phase": "map-phase rate",
    "throughput_per_stream": "per-stream rate",
    "throughput_job": "whole-job rate",
}


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    """One figure a workload, one panel a setting and rate. None for a workload that was not run."""
    yield from _figure(
        summary,
        names,
        "ycsb",
        "YCSB throughput",
        "Operations that succeeded per second, by density. Each panel has its own scale, from zero.",
    )
    yield from _figure(
        summary,
        names,
        "testdfsio",
        "TestDFSIO throughput",
        "Three rates of the same jobs: over the map phase (all streams together, without YARN's "
        "start-up), of one stream, and over the whole job. Each panel has its own scale, from zero.",
    )


def _figure(
    summary: Summary, names: Names, workload: str, title: str, caption: str
) -> Iterator[Figure]:
    seen = [one for one in observations(summary, RATES) if one.setting.workload == workload]
    panels = tuple(_panels(summary, names, seen))
    if not panels:
        return
    yield Figure(
        id=f"throughput-{workload}",
        title=title,
        caption=caption,
        panels=panels,
        legend=legend(arm_styles(summary, names)),
        table=observation_table(seen, names, "Rate", lambda metric: RATES[metric.name]),
        notes=(
            *point_notes(summary),
            *settings_without_trials(summary, names, {workload}),
            *uncomputed(summary, RATES, "rate"),
        ),
    )


def _panels(summary: Summary, names: Names, seen: list[Observation]) -> Iterator[Panel]:
    arms = arm_styles(summary, names)
    places = densities(summary, names)
    for setting in dict.fromkeys(one.setting.setting for one in seen):
        for rate, words in RATES.items():
            same = [
                one for one in seen if (one.metric.name, one.setting.setting) == (rate, setting)
            ]
            rows = [row for one in same for row in rows_of(one, names, names.arm(one.setting))]
            if not rows:
                continue
            axes = Axes(places, names.axis, same[0].metric.unit, arms)
            yield panel(f"{rate}-{setting}", same[0].setting.label, words, rows, axes)
