"""The summary as a plain table, which `study` prints at the end of a run."""

from __future__ import annotations

from collections import Counter

from analysis.report.charts.observations import Names, names
from analysis.report.charts.quantity import ABSENT, quantity
from analysis.report.trials import MAIN_RATES
from analysis.summary.summary import Metric, SettingSummary, Summary, TrialSummary

NONE = "none"
NO_TRIAL = "no valid trial"
Key = tuple[str, str]
"""Topology and setting of a row."""


def summary_header(summary: Summary) -> tuple[str, ...]:
    """Names of the columns of `summary_rows`."""
    return (
        "Setting",
        names(summary).density_header,
        "Medium",
        "Throughput",
        "p99",
        "Host CPU",
        "Trials",
    )


def summary_rows(summary: Summary) -> list[tuple[str, ...]]:
    """A row per setting and topology, also if no trial is valid. Numbers carry their units.

    p99 is that of the slowest operation, with its kind: "31.5 ms SCAN, closed-loop".
    """
    called = names(summary)
    verdicts: dict[Key, Counter[str]] = {}
    first: dict[Key, TrialSummary] = {}
    for trial in summary.trials:
        key = (trial.topology, trial.setting)
        verdicts.setdefault(key, Counter())[trial.verdict] += 1
        first.setdefault(key, trial)
    settled = {(entry.topology, entry.setting): entry for entry in summary.settings}
    labels = {entry.setting: entry.label for entry in summary.settings}
    rows = [_row(entry, called, verdicts.get(key, Counter())) for key, entry in settled.items()]
    rows += [
        _empty(trial, called, labels, verdicts[key])
        for key, trial in first.items()
        if key not in settled
    ]
    return sorted(rows, key=lambda row: _place(row, list(labels.values())))


def _place(row: tuple[str, ...], labels: list[str]) -> tuple[int, int, str]:
    """By setting in the study's order, then density (the bare host first), then medium."""
    at = labels.index(row[0]) if row[0] in labels else len(labels)
    return at, int(row[1]) if row[1].isdigit() else 0, row[2]


def _row(entry: SettingSummary, called: Names, verdicts: Counter[str]) -> tuple[str, ...]:
    return (
        entry.label,
        called.density(entry.vms_per_host),
        called.arm(entry),
        _throughput(entry),
        _p99(entry),
        _host_cpu(entry),
        _verdicts(verdicts),
    )


def _empty(
    trial: TrialSummary, called: Names, labels: dict[str, str], verdicts: Counter[str]
) -> tuple[str, ...]:
    label = labels.get(trial.setting, trial.setting)
    density, medium = called.density(trial.vms_per_host), called.medium(trial.medium)
    return (label, density, medium, NO_TRIAL, NONE, NONE, _verdicts(verdicts))


def _throughput(entry: SettingSummary) -> str:
    if entry.n_builds == 0:
        return NO_TRIAL
    rate = next((one for one in entry.metrics if one.name in MAIN_RATES), None)
    return quantity(rate.value, rate.unit) if rate else NONE


def _p99(entry: SettingSummary) -> str:
    """Intended latency if there is any, because closed-loop latency hides waiting."""
    found = [one for one in entry.metrics if one.name == "latency" and one.percentile == 99.0]
    intended = [one for one in found if one.latency_kind == "intended"]
    known = [one for one in intended or found if one.value is not None]
    if not found:
        return NONE
    if not known:
        return ABSENT
    slowest = max(known, key=lambda one: one.value or 0.0)
    return f"{quantity(slowest.value, slowest.unit)} {slowest.operation}, {slowest.latency_kind}"


def _host_cpu(entry: SettingSummary) -> str:
    """Each host's used CPU; hosts are named if there are several."""
    hosts = [one for one in entry.metrics if one.name == "cpu_used" and _is_host(one)]
    if len(hosts) == 1:
        return quantity(hosts[0].value, hosts[0].unit)
    named = (f"{_scope_name(one)} {quantity(one.value, one.unit)}" for one in hosts)
    return ", ".join(named) or NONE


def _is_host(metric: Metric) -> bool:
    return (metric.scope or "").startswith("host:")


def _scope_name(metric: Metric) -> str:
    return (metric.scope or "").partition(":")[2]


def _verdicts(verdicts: Counter[str]) -> str:
    counts = (
        f"{verdicts[name]} {name}" for name in ("valid", "invalid", "unknown") if verdicts[name]
    )
    return ", ".join(counts) or NONE
