"""A figure's numbers as a table: for screen readers, for print and for copying."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from density_study.analysis.report.charts.figure import Column, DataTable
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.quantity import interval, quantity, where
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Metric


def observation_table(
    seen: Sequence[Observation], view: View, header: str, what: Callable[[Metric], str]
) -> DataTable:
    """One row per observation; `what`, under `header`, distinguishes the metrics of a setting."""
    return DataTable(
        columns=(
            Column("Setting"),
            Column(view.density_header),
            Column(view.arm_header),
            Column(header),
            Column("Value", numeric=True),
            Column("Interval", numeric=True),
            Column("Builds", numeric=True),
            Column("Each build", numeric=True),
        ),
        rows=tuple(
            (
                one.setting.label,
                view.density(one.setting.vms_per_host),
                view.arm(one.setting),
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


OTHERS = {
    "client_throughput": "rate of one client",
    "concurrent_maps": "concurrent maps",
    "cache_evictions": "evicted from block caches",
    "hdfs_read_local": "HDFS bytes read from the own node",
    "hdfs_read_rack": "HDFS bytes read from other nodes of the host",
    "hdfs_read_remote": "HDFS bytes read from other hosts",
    "disk_read": "disk read",
    "disk_write": "disk written",
    "cpu_user": "CPU, user",
    "cpu_system": "CPU, system",
}


def other_table(view: View) -> DataTable:
    """Numbers that no figure draws: of disks, HDFS, maps, evictions, CPU by kind of nodes and client."""
    seen = [
        one
        for one in view.observations(OTHERS)
        if not (one.metric.name.startswith("cpu_") and str(one.metric.scope).startswith("host:"))
    ]
    return observation_table(
        seen, view, "Number", lambda m: ", ".join(filter(None, (OTHERS[m.name], where(m.scope))))
    )


def _each(metric: Metric) -> str:
    """The builds' values in repetition order, with the unit once at the end."""
    if not metric.points:
        return "none"
    first = [digits(value) for value in metric.points[:-1]]
    return ", ".join([*first, quantity(metric.points[-1], metric.unit)])
