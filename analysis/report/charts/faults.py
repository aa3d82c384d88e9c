"""Trials with a fault under load, as a table: a kill, a cut from the network, a slow disk."""

from __future__ import annotations

from density_study.analysis.report.charts.figure import DataTable, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.summary.summary import Metric, TrialSummary

UNKNOWN = "unknown"


def table(view: View) -> DataTable:
    """One row per trial, in the order of the test cases' topologies and their builds."""
    faults = {one.test_case: one.fault for one in view.summary.test_cases if one.fault}
    return DataTable(
        columns(
            "Fault | Topology | Build | Verdict | Rate was back after # "
            "| Failed operations # | Longest intended latency # | Acknowledged rows lost #"
        ),
        tuple(
            (
                faults[trial.test_case],
                trial.topology,
                trial.build,
                trial.verdict,
                _recovered(trial),
                _count(trial, "failed_operations"),
                _value(trial, "worst_latency"),
                _count(trial, "lost_rows"),
            )
            for trial in sorted(view.summary.trials, key=lambda one: (one.topology, one.order))
            if trial.test_case in faults
        ),
    )


def _recovered(trial: TrialSummary) -> str:
    found = _metric(trial, "time_to_recover")
    if found is None:
        return UNKNOWN
    return "not within the trial" if found.value is None else quantity(found.value, "s")


def _value(trial: TrialSummary, name: str) -> str:
    found = _metric(trial, name)
    return UNKNOWN if found is None or found.value is None else quantity(found.value, found.unit)


def _count(trial: TrialSummary, name: str) -> str:
    found = _metric(trial, name)
    return UNKNOWN if found is None or found.value is None else f"{found.value:,.0f}"


def _metric(trial: TrialSummary, name: str) -> Metric | None:
    return next((one for one in trial.metrics if one.name == name), None)
