"""The searches of a run as tables: what each found, and the probes that led there."""

from __future__ import annotations

from collections.abc import Iterator

from density_study.analysis.report.charts.figure import DataTable, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.summary.summary import ProbeSummary, SearchSummary
from density_study.cluster.model.plain import counted

NONE = "none"


def found_table(view: View) -> DataTable:
    """One row per search: its answer between the highest load kept and the lowest rejected."""
    return DataTable(
        columns(
            "Test case | Topology | Build | Highest kept # | Lowest rejected # | Probes # | Ended"
        ),
        tuple(
            (
                view.labels[one.test_case],
                one.topology,
                one.build,
                _load(one, one.answer_load),
                _load(one, one.rejected_load),
                str(len(one.probes)),
                "one step apart" if one.exact else one.why,
            )
            for one in view.summary.searches
        ),
    )


def probes_table(view: View) -> DataTable:
    """Every probe in the order of its search: its load, what it measured, and what decided."""
    return DataTable(
        columns(
            "Test case | Build | Probe # | Load # | Chosen as | Achieved # "
            "| Latency and CPU | Result"
        ),
        tuple(
            (
                view.labels[one.test_case],
                one.build,
                str(probe.number),
                _load(one, probe.load),
                probe.because,
                NONE if probe.rate_ops_s is None else quantity(probe.rate_ops_s, "ops/s"),
                ", ".join(_measured(probe)) or NONE,
                probe.verdict + (" (the answer)" if probe.trial == one.answer else ""),
            )
            for one in view.summary.searches
            for probe in one.probes
        ),
    )


def _load(search: SearchSummary, load: float | None) -> str:
    if load is None:
        return NONE
    return quantity(load, "ops/s") if search.unit == "ops/s" else counted(round(load), "thread")


def _measured(probe: ProbeSummary) -> Iterator[str]:
    yield from (f"{name} {quantity(ms, 'ms')}" for name, ms in probe.latency_ms.items())
    if probe.cpu_percent is not None:
        yield f"CPU {quantity(probe.cpu_percent, 'percent')}"
