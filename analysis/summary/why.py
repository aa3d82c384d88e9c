"""Causes of slow trials, limits of test cases, and what moved between variants, as in summary.json."""

from __future__ import annotations

from pydantic import Field

from density_study.workloads.base.values import Frozen


class TrialCause(Frozen):
    """A cause of a slow trial. The trial's series show what it slowed down."""

    trial: str
    rank: int = Field(description="1: named first; analysis/explanation/rules.toml has the ranking")
    cause: str = Field(description="id of the rule, in kebab case")
    title: str = Field(description="the rule's name, for people")
    lasting: bool = Field(
        description="whether it held for all of the trial; false: in slow seconds"
    )
    common: bool = Field(
        description="whether at least half of the test case's trials on the topology have it: then it does "
        "not explain why this one is slower"
    )
    where: str = Field(description="host, disk, daemon, server or region; empty: the trial")
    first: int | None = Field(description="first slow second of its longest spell; null: lasting")
    last: int | None = Field(description="last slow second of that spell")
    sentence: str = Field(description="cause and evidence, for people")
    remedy: str


class Bottleneck(Frozen):
    """What limits a test case on a topology, by the utilization law: use grows with the rate, up to
    100 %."""

    topology: str
    test_case: str
    station: str | None = Field(
        description="the busiest station: 'the CPU of host h1', 'disk sda on h1'; null: none is busy"
    )
    use_percent: float = Field(description="use of the busiest station, median over its trials")
    limit: float = Field(description="rate at which the busiest station would be fully used")
    next_station: str | None = Field(description="the next limit; null: no other was sampled")
    next_limit: float | None = Field(
        description="rate at which the next station would be fully used"
    )
    sentence: str


class Shift(Frozen):
    """A sampled quantity in two variants, from the means of their builds: measured, not tested."""

    name: str
    label: str
    per_operation: bool = Field(description="whether its mean is divided by the rate")
    ratio: float = Field(description="later variant over first, geometric mean of the repetitions")
    low: float = Field(description="lower end of the interval, 95 %")
    high: float


class Explanation(Frozen):
    """What else differs between two variants of a test case, beside how fast they are."""

    test_case: str
    first: str = Field(description="topology of the first variant")
    later: str = Field(description="topology of the later one")
    rate: float | None = Field(description="ratio of the rates; null: the study fixes the rate")
    moved: tuple[Shift, ...] = Field(
        description="quantities that differ by 10 % or more and whose interval excludes 1, the surest first"
    )
    equal: tuple[Shift, ...] = Field(description="quantities whose interval lies within 10 % of 1")
    compared: int = Field(description="number of compared quantities; one in 20 moves by chance")
    sentence: str
