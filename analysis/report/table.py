"""The summary as a plain table, which `study` prints at the end of a run."""

from __future__ import annotations

from analysis.report.charts.observations import Names, names
from analysis.report.charts.quantity import ABSENT, quantity
from analysis.report.trials import counts, host_cpu, labels, main_rate, slowest_p99, verdicts_by_arm
from analysis.summary.summary import SettingSummary, Summary

NONE = "none"
NO_TRIAL = "no valid trial"


def summary_header(summary: Summary) -> tuple[str, ...]:
    """Names of the columns of `summary_rows`."""
    density = names(summary).density_header
    return ("Setting", density, "Medium", "Throughput", "p99", "Host CPU", "Trials")


def summary_rows(summary: Summary) -> list[tuple[str, ...]]:
    """A row per setting and topology, also if no trial is valid. Numbers carry their units.

    p99 is that of the slowest operation, with its kind: "31.5 ms SCAN, closed-loop".
    """
    called, verdicts = names(summary), verdicts_by_arm(summary)
    settled = {(entry.topology, entry.setting): entry for entry in summary.settings}
    tried = {(trial.topology, trial.setting): trial for trial in reversed(summary.trials)}
    rows = [
        (*_row(entry, called), counts(verdicts.get(key, ()), NONE))
        for key, entry in settled.items()
    ]
    rows += [
        (labels(summary)[trial.setting], called.density(trial.vms_per_host),
         called.medium(trial.medium), NO_TRIAL, NONE, NONE, counts(verdicts[key], NONE))
        for key, trial in reversed(tried.items())
        if key not in settled
    ]  # fmt: skip
    order = [entry.label for entry in summary.settings]
    return sorted(rows, key=lambda row: _place(row, order))


def _place(row: tuple[str, ...], labels: list[str]) -> tuple[int, int, str]:
    """By setting in the study's order, then density (the bare host first), then medium."""
    at = labels.index(row[0]) if row[0] in labels else len(labels)
    return at, int(row[1]) if row[1].isdigit() else 0, row[2]


def _row(entry: SettingSummary, called: Names) -> tuple[str, ...]:
    rate = main_rate(entry.metrics)
    throughput = quantity(rate.value, rate.unit) if rate else NONE
    return (
        entry.label,
        called.density(entry.vms_per_host),
        called.arm(entry),
        NO_TRIAL if entry.n_builds == 0 else throughput,
        _p99(entry),
        _host_cpu(entry),
    )


def _p99(entry: SettingSummary) -> str:
    slowest = slowest_p99(entry.metrics)
    if slowest is None:
        return NONE
    if slowest.value is None:
        return ABSENT
    return f"{quantity(slowest.value, slowest.unit)} {slowest.operation}, {slowest.latency_kind}"


def _host_cpu(entry: SettingSummary) -> str:
    """Each host's used CPU; hosts are named if there are several."""
    used = {str(one.scope)[5:]: quantity(one.value, one.unit) for one in host_cpu(entry.metrics)}
    if len(used) == 1:
        return next(iter(used.values()))
    return ", ".join(f"{host} {value}" for host, value in used.items()) or NONE
