"""`quoted`: the numbers of a run's test cases, each with its interval and the verdict of its trials."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from density_study.analysis.summary.summary import Metric, Summary, TestCaseSummary
from density_study.cluster.model.plain import counted
from density_study.workloads.base.rows import OPS_S
from density_study.workloads.base.values import Frozen

PACED = "clients were held to a target rate, so that the rate is no result"
NO_INTERVAL = "no interval: the number is in the report, and answers nothing"
OF_IMPORTED = "unknown: nobody recorded what decides whether its trials are valid"


class Quoted(Frozen):
    """A metric of a test case on one variant. `value` is null without an interval."""

    test_case: str
    variant: str
    metric: str
    unit: str
    operation: str | None = None
    percentile: float | None = None
    latency: str | None = Field(None, description="closed-loop or intended")
    scope: str | None = Field(None, description="host:<name>, node:<name>, client, ...")
    during: str | None = Field(
        None, description="a fault, a neighbour or a changing load; null: an ordinary trial"
    )
    value: float | None
    low: float | None = Field(None, description="lower end of the 95 % interval")
    high: float | None = None
    n: int = Field(description="builds behind the value")
    verdict: str = Field(description="verdict of its trials: valid, or their warnings and reasons")


def quoted(summary: Summary, test_case: str = "", metric: str = "") -> Iterator[Quoted]:
    """Yield metrics with their verdicts. `test_case`: a part of the label or id of the test cases wanted,
    `metric`: a part of the metric's name; an empty one means all."""
    for entry in summary.test_cases:
        if test_case.casefold() not in f"{entry.label} {entry.test_case}".casefold():
            continue
        verdict = _verdict(summary, entry)
        for one in entry.metrics:
            if metric.casefold() in one.name:
                # also the rate of each client, and what a rate costs
                is_set = entry.target_ops_s is not None and one.unit.startswith(OPS_S)
                yield _quoted(entry, one, f"{verdict}; {PACED}" if is_set else verdict)


def _quoted(entry: TestCaseSummary, one: Metric, verdict: str) -> Quoted:
    whole = one.value is not None and one.low is not None and one.high is not None
    return Quoted(
        test_case=entry.label,
        variant=entry.topology,
        metric=one.name,
        unit=one.unit,
        operation=one.operation,
        percentile=one.percentile,
        latency=one.latency_kind,
        scope=one.scope,
        during="; ".join(filter(None, (entry.fault, entry.neighbour, entry.phase))) or None,
        value=one.value if whole else None,
        low=one.low if whole else None,
        high=one.high if whole else None,
        n=one.n,
        verdict=verdict if whole else f"{verdict}; {NO_INTERVAL}",
    )


def _verdict(summary: Summary, entry: TestCaseSummary) -> str:
    if entry.n_unknown:
        return OF_IMPORTED
    trials = [
        trial
        for trial in summary.trials
        if (trial.test_case, trial.topology) == (entry.test_case, entry.topology)
    ]
    used = sum(trial.counted and trial.verdict == "valid" for trial in trials)
    flagged = sum(trial.has_warnings for trial in trials)
    limits = [f"{flagged} with warnings"] if flagged else []
    if left := len(trials) - used:
        limits.append(f"{left} not used")
    return counted(used, "valid trial") + (f" ({', '.join(limits)})" if limits else "")
