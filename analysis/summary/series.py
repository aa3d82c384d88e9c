"""`TrialSeries`: the course of one trial, as summary.json holds it and the report draws it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from density_study.workloads.base.values import Frozen

# one number per point of the series; null if it was not sampled or the scope lacks it
Values = tuple[float | None, ...]


class CpuSeries(Frozen):
    """Where the cores' time went, percent of all cores of `host`. One value per point of `at_s`."""

    scope: str = Field(description="host:<name>, node:<name>, client, monitor: as in metrics")
    host: str
    at_s: tuple[int, ...] = Field(
        description="each point's start, seconds after the window's start; it lasts step_s"
    )
    user: Values = ()
    system: Values = ()
    iowait: Values = ()
    steal: Values = ()
    irq: Values = ()
    idle: Values = ()


class RateSeries(Frozen):
    name: Literal[
        "operations", "requested", "transferred", "disk_read", "disk_write", "longest_operation"
    ]
    unit: Literal["ops/s", "MiB/s", "ms"]
    at_s: tuple[int, ...]
    rate: Values


class LatencyCurve(Frozen):
    """Latency by percentile of merged histograms; `ms[i]` is that of `percentile[i]`."""

    operation: str
    latency_kind: Literal["closed-loop", "intended"]
    operations: int | None = Field(description="operations behind the curve")
    percentile: tuple[float, ...]
    ms: tuple[float, ...]


class DeviceSeries(Frozen):
    """A metric of a telemetry device (monitor.also) on one of its sources."""

    device: str
    host: str
    source: str = Field(description="a disk, a daemon (<node>/<daemon>), or host")
    name: str
    label: str = Field(description="for people: 'mean time of a read'")
    chart: str = Field(description="metrics with the same chart share a panel")
    unit: str
    at_s: tuple[int, ...]
    value: Values


class EventMark(Frozen):
    """An event of a daemon that a device reports; seconds after the window's start."""

    kind: str = Field(description="gc pause, safepoint, flush or compaction")
    source: str
    start_s: float
    end_s: float
    what: str


class SlowSpell(Frozen):
    """Consecutive slow seconds, from the start of `first` to the end of `last`, and what moved with them."""

    first: int
    last: int
    cause: str | None = Field(
        description="null: no rule held, and the sentence names what moved most"
    )
    also: tuple[str, ...] = Field((), description="other causes whose rules hold")
    sentence: str = Field(description="how slow it was, the cause and its evidence, for people")


class TrialSeries(Frozen):
    trial: str
    step_s: int = Field(description="every point is the mean over this many seconds")
    cpu: tuple[CpuSeries, ...] = ()
    rates: tuple[RateSeries, ...] = ()
    latency: tuple[LatencyCurve, ...] = ()
    devices: tuple[DeviceSeries, ...] = Field(
        (), description="what telemetry devices sampled; empty: the study has none"
    )
    events: tuple[EventMark, ...] = Field(
        (), description="the longest pauses, flushes and compactions, in the order of time"
    )
    slow: tuple[SlowSpell, ...] = Field(
        (), description="slow seconds of a trial with devices; empty: none, or no device"
    )
