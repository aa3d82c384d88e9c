"""The summary as a plain table, which `study` prints at the end of a run."""

from __future__ import annotations

from density_study.analysis.report.charts.figure import Column, DataTable
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import ABSENT, quantity
from density_study.analysis.report.trials import (
    counts_by_variant,
    host_cpu,
    main_rate,
    shown_scopes,
    slowest_p99,
)
from density_study.analysis.summary.summary import Summary, TestCaseSummary, unknown_first

NONE = "none"


def summary_table(summary: Summary) -> DataTable:
    """A row per test case and topology, also if no trial is valid. Numbers carry their units.

    p99 is that of the slowest operation, with its kind: "31.5 ms SCAN, closed-loop".
    """
    view, counted = View(summary), counts_by_variant(summary)
    labels = list(view.labels.values())
    ordered = sorted(
        summary.test_cases,
        key=lambda one: (
            labels.index(one.label),
            unknown_first(one.vms_per_host),
            view.variant(one),
        ),
    )
    measured = measured_header(any(one.n_builds > 1 for one in ordered))
    header = ("Test case", view.density_header, view.variant_header, *measured, "Trials")
    rows = tuple(
        (
            one.label,
            view.density(one.vms_per_host),
            view.variant(one),
            _throughput(one),
            _p99(one),
            _host_cpu(one),
            counted.get((one.topology, one.test_case), NONE),
        )
        for one in ordered
    )
    return DataTable(tuple(map(Column, header)), rows)


def measured_header(of_several_builds: bool) -> tuple[str, ...]:
    """What is shown of each test case. Findings compare geometric means, and one slow build can move a mean
    past a median: the header says which it is."""
    shown = ("Throughput", "p99", "Host CPU")
    return tuple(f"{name}, median" for name in shown) if of_several_builds else shown


def _throughput(entry: TestCaseSummary) -> str:
    rate = main_rate(entry.metrics)
    if entry.n_builds == 0:
        return "no valid trial"
    return quantity(rate.value, rate.unit) if rate else NONE


def _p99(entry: TestCaseSummary) -> str:
    slowest = slowest_p99(entry.metrics)
    if slowest is None:
        return NONE
    if slowest.value is None:
        return ABSENT
    return f"{quantity(slowest.value, slowest.unit)} {slowest.operation}, {slowest.latency_kind}"


def _host_cpu(entry: TestCaseSummary) -> str:
    """Each shown host's used CPU; hosts are named if there are several."""
    hosts, shown = host_cpu(entry.metrics), shown_scopes(entry.metrics)
    used = {str(m.scope)[5:]: quantity(m.value, m.unit) for m in hosts if m.scope in shown}
    if len(used) == 1:
        return next(iter(used.values()))
    left_out = f" (of {len(hosts)} hosts)" if len(used) < len(hosts) else ""
    return ", ".join(f"{host} {value}" for host, value in used.items()) + left_out or NONE
