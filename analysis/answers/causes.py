"""`named_causes` and `limits`: why trials were slow and what limits test cases, without the numbers of the
evidence, which are of single trials or extrapolated and have no interval."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from density_study.analysis.summary.summary import Summary
from density_study.workloads.base.values import Frozen


class NamedCause(Frozen):
    """A cause that the report names for a slow trial; its evidence stands there."""

    trial: str
    verdict: str = Field(description="verdict of the trial")
    cause: str
    where: str = Field(description="host, disk, daemon, server or region; empty: the trial")
    lasting: bool = Field(
        description="whether it held for all of the trial; false: in slow seconds"
    )
    common: bool = Field(
        description="whether most of such trials have it: then it does not explain this one"
    )
    remedy: str


class Limit(Frozen):
    """What limits a test case on a variant."""

    test_case: str
    variant: str
    station: str | None = Field(description="the busiest station; null: none is busy")


def named_causes(summary: Summary) -> Iterator[NamedCause]:
    """Yield the causes of slow seconds in the order of the trials, and within a trial the likeliest first."""
    verdicts = {trial.trial: trial.verdict for trial in summary.trials}
    for one in summary.causes:
        yield NamedCause(
            trial=one.trial,
            verdict=verdicts.get(one.trial, "unknown"),
            cause=one.title,
            where=one.where,
            lasting=one.lasting,
            common=one.common,
            remedy=one.remedy,
        )


def limits(summary: Summary) -> Iterator[Limit]:
    labels = {(one.test_case, one.topology): one.label for one in summary.test_cases}
    for one in summary.bottlenecks:
        label = labels.get((one.test_case, one.topology), one.test_case)
        yield Limit(test_case=label, variant=one.topology, station=one.station)
