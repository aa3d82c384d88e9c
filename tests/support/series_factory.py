"""Synthetic time series of trials for `tests.support.summary_factory`: CPU, rates and latency
within a trial."""

from __future__ import annotations

import random
from collections.abc import Iterator

from density_study.analysis.summary.series import (
    CpuSeries,
    DeviceSeries,
    EventMark,
    LatencyCurve,
    RateSeries,
    SlowSpell,
    TrialSeries,
)
from density_study.analysis.summary.summary import TrialSummary
from density_study.workloads.monitors.devices import devices

PERCENTILES = (0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9)
GAP_S = 5
"""A second without a sample, in every series."""


def trial_series(trial: TrialSummary, seed: int = 7) -> TrialSeries:
    """A series that extends slightly beyond the trial's window on both sides."""
    rng = random.Random(f"{seed} {trial.trial}")
    end_s = int(trial.measure_s or 10.0)
    seconds = tuple(second for second in range(-2, end_s + 2) if second != GAP_S)
    return TrialSeries(
        trial=trial.trial,
        step_s=1,
        cpu=tuple(_cpu(trial, seconds, rng)),
        rates=tuple(_rates(trial, seconds, rng)),
        latency=tuple(_latency(trial)),
    )


def _cpu(trial: TrialSummary, seconds: tuple[int, ...], rng: random.Random) -> Iterator[CpuSeries]:
    used = next(m.value or 0.0 for m in trial.metrics if m.name == "cpu_used")
    user = tuple(round(max(0.0, used * 0.7 + rng.gauss(0.0, 4.0)), 2) for _ in seconds)
    system = tuple(round(used * 0.3, 2) for _ in seconds)
    yield CpuSeries(
        scope="host:here",
        host="here",
        at_s=seconds,
        user=user,
        system=system,
        iowait=(1.5,) * len(seconds),
        steal=(0.0,) * len(seconds),
        idle=tuple(round(98.5 - a - b, 2) for a, b in zip(user, system, strict=True)),
    )
    for scope in ("client", "monitor", *_nodes(trial)):
        share = 0.3 if scope.startswith("node:") else 0.2
        own = tuple(round(value * share, 2) for value in user)
        yield CpuSeries(scope=scope, host="here", at_s=seconds, user=own, system=system)


def _nodes(trial: TrialSummary) -> list[str]:
    return [f"node:worker-{number + 1}" for number in range(max(1, trial.vms_per_host))]


def _rates(
    trial: TrialSummary, seconds: tuple[int, ...], rng: random.Random
) -> Iterator[RateSeries]:
    middle = next(
        (m.value or 0.0 for m in trial.metrics if m.name in ("throughput", "throughput_map_phase")),
        0.0,
    )
    rate = tuple(round(max(0.0, middle * rng.gauss(1.0, 0.15)), 3) for _ in seconds)
    if trial.workload == "ycsb":
        yield RateSeries(name="operations", unit="ops/s", at_s=seconds, rate=rate)
    else:
        yield RateSeries(name="transferred", unit="MiB/s", at_s=seconds, rate=rate)
    moved = tuple(round(rng.expovariate(1 / 80.0), 3) for _ in seconds)
    yield RateSeries(name="disk_read", unit="MiB/s", at_s=seconds, rate=moved)
    yield RateSeries(name="disk_write", unit="MiB/s", at_s=seconds, rate=tuple(reversed(moved)))


def _latency(trial: TrialSummary) -> Iterator[LatencyCurve]:
    for metric in trial.metrics:
        if metric.name == "latency" and metric.percentile == 50.0 and metric.value is not None:
            ms = tuple(round(metric.value * 20 ** (at / 100) ** 4, 3) for at in PERCENTILES)
            yield LatencyCurve(
                operation=str(metric.operation),
                latency_kind="closed-loop",
                operations=100_000,
                percentile=PERCENTILES,
                ms=ms,
            )


def watched(series: TrialSeries) -> TrialSeries:
    """The same trial as if telemetry devices had watched it: two sources, a pause, and a slow second."""
    seconds = series.rates[0].at_s
    known = [(device.name, metric) for device in devices().values() for metric in device.metrics]
    sampled = tuple(
        DeviceSeries(
            device=device, host="here", source=source, name=metric.name, label=metric.label,
            chart=metric.chart, unit=metric.unit, at_s=seconds[::every],
            value=tuple(float(10 * place + second % 7) for second in seconds[::every]),
        )
        for place, (device, metric) in enumerate(known)
        for source, every in ((("w1/a", 1), ("w2/a", 2)) if device == "jmx" else (("host", 1),))
    )  # fmt: skip
    pause = EventMark(kind="gc pause", source="w2/a", start_s=4.1, end_s=4.62, what="Pause Full")
    sentence = "second 4: rate 60 % below the median. With it: w2/a paused 520 ms."
    spell = SlowSpell(first=4, last=4, cause="gc pause", sentence=sentence)
    return series.model_copy(update={"devices": sampled, "events": (pause,), "slow": (spell,)})
