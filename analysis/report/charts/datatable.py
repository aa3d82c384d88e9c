"""A figure's numbers as a table: for screen readers, for print and for copying."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from density_study.analysis.report.charts.figure import DataTable, columns
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.quantity import interval, quantity, words
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Metric
from density_study.workloads.study.metrics import metric_kinds


def observation_table(
    seen: Sequence[Observation], view: View, header: str, what: Callable[[Metric], str]
) -> DataTable:
    """One row per observation; `what`, under `header`, distinguishes the metrics of a test case."""
    return DataTable(
        columns=columns(
            f"Test case | {view.density_header} | {view.variant_header} | {header} "
            "| Value # | Interval # | Builds # | Each build #"
        ),
        rows=tuple(
            (
                one.test_case.label,
                view.density(one.test_case.vms_per_host),
                view.variant(one.test_case),
                what(one.metric),
                quantity(one.metric.value, one.metric.unit),
                interval(one.metric.low, one.metric.high, one.metric.unit) or "none",
                f"n = {one.metric.n}",
                _each(one.metric),
            )
            for one in seen
        ),
        of=tuple(one.of for one in seen),
    )


def other_table(view: View) -> DataTable:
    """Numbers that no figure draws: of disks, HDFS, maps, evictions, CPU by kind of nodes and client."""
    names = [metric.name for metric in metric_kinds().values() if metric.shown == "list"]
    seen = [
        one
        for one in view.observations(names)
        if not (one.metric.name.startswith("cpu_") and str(one.metric.scope).startswith("host:"))
    ]
    return observation_table(seen, view, "Number", words)


def _each(metric: Metric) -> str:
    """The builds' values in repetition order, with the unit once at the end."""
    if not metric.points:
        return "none"
    first = [digits(value) for value in metric.points[:-1]]
    return ", ".join([*first, quantity(metric.points[-1], metric.unit)])
