"""The table of trials: every trial of the run, including failed, invalid and unknown ones."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.report.charts.observations import Names
from analysis.report.charts.quantity import quantity
from analysis.summary.summary import Summary, TrialSummary

MAIN_RATES = ("throughput", "throughput_map_phase")


@dataclass(frozen=True)
class TrialRow:
    """A trial as the template shows it. Texts carry units. JavaScript sorts by `sort_*`; `course` is
    the index of the trial's series in the summary."""

    trial: TrialSummary
    density: str
    medium: str
    label: str
    measured: str
    rate: str
    sort_rate: float
    reasons: str
    course: int | None
    density_in_words: str


def rows(summary: Summary, names: Names) -> tuple[TrialRow, ...]:
    """In the order in which the trials ran."""
    labels = {entry.setting: entry.label for entry in summary.settings}
    ordered = sorted(summary.trials, key=lambda trial: trial.order)
    courses = {series.trial: place for place, series in enumerate(summary.series)}
    return tuple(_row(trial, names, labels, courses.get(trial.trial)) for trial in ordered)


def courses(summary: Summary, names: Names) -> tuple[tuple[int, str], ...]:
    """(index in the summary's series, label) of every trial that has a series, in their order."""
    found = [row for row in rows(summary, names) if row.course is not None]
    return tuple(
        (row.course or 0, f"{row.trial.order}: {row.label}, {row.density_in_words}, {row.medium}, "
         f"repetition {row.trial.repetition} ({row.trial.verdict})")
        for row in found
    )  # fmt: skip


def _row(trial: TrialSummary, names: Names, labels: dict[str, str], course: int | None) -> TrialRow:
    rate = next((one for one in trial.metrics if one.name in MAIN_RATES), None)
    value = rate.value if rate else None
    return TrialRow(
        trial=trial,
        density=names.density(trial.vms_per_host),
        medium=names.medium(trial.medium),
        label=labels.get(trial.setting, trial.setting),
        measured=quantity(trial.measure_s, "s") if trial.measure_s is not None else "not finished",
        rate=quantity(value, rate.unit) if rate else "none",
        sort_rate=-1.0 if value is None else value,
        reasons="; ".join(trial.reasons),
        course=course,
        density_in_words=names.density_in_words(trial.vms_per_host),
    )


def counts(summary: Summary) -> str:
    """12 valid, 1 invalid, 1 unknown."""
    verdicts = [trial.verdict for trial in summary.trials]
    counted = [(name, verdicts.count(name)) for name in ("valid", "invalid", "unknown")]
    return ", ".join(f"{count} {name}" for name, count in counted if count) or "no trials"
