"""The bottleneck of a test case: which station is busiest, and at which rate it would be full.

The utilization law (Denning and Buzen, Computing Surveys 10, 1978): the use of a station is the rate times
its time per operation, so a rate is limited to the rate over the use of the busiest station, whatever the
queues. If no station is busy, closed-loop clients are the limit: their number over the time of an operation
is the rate (Little's law). With a target rate their threads are a station: all busy, they cannot reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from density_study.analysis.findings.variants import rate
from density_study.analysis.summary.numbers import digits, ratio
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.analysis.summary.why import Bottleneck
from density_study.cluster.model.plain import capitalised, counted

BUSY = 75.0  # percent: beyond, queues grow quickly
_STATIONS: Mapping[str, str] = {
    "cpu_used": "the CPU of host {}",
    "client_cpu": "the client's CPU on host {}",
    "disk_busy": "disk {}",
    "card_send_use": "sending of {}",
    "card_receive_use": "receiving of {}",
    "updates_blocked": "memstores of {}",
}
_THREADS: Mapping[str, str] = {"client_threads": "the pool of threads of {}"}
"""Busy whenever a station is: it counts if none of them is."""


class Station(NamedTuple):
    use_percent: float
    words: str


def bottlenecks(
    entries: Iterable[TestCaseSummary], means: pd.DataFrame, threads: Mapping[tuple[str, str], int]
) -> Iterator[Bottleneck]:
    """Yields the bottleneck of each test case on each topology with a rate and stations that were sampled.

    means: `series_means` with the topology and test case of each counted trial. threads: those of all
    clients, by topology and test case; it has none that has no closed loop.
    """
    by_case = dict(iter(means.groupby(["topology", "test_case"])))
    for entry in entries:
        found, key = rate(entry), (entry.topology, entry.test_case)
        rows = by_case.get(key)
        stations = sorted(_stations(rows, _STATIONS), reverse=True) if rows is not None else []
        if rows is not None and not (stations and stations[0].use_percent >= BUSY):
            stations = sorted([*stations, *_stations(rows, _THREADS)], reverse=True)
        if found and stations and stations[0].use_percent > 0:
            yield _bottleneck(entry, found, stations, threads.get(key))


def _stations(rows: pd.DataFrame, named: Mapping[str, str]) -> Iterator[Station]:
    for name, words in named.items():
        of_name = rows[rows["name"] == name]
        if len(of_name):
            # the place that is the busiest one most often
            where = of_name["where"].mode().iloc[0]
            yield Station(float(of_name["most"].median()), words.format(where))


def _bottleneck(
    entry: TestCaseSummary, rate: float, stations: list[Station], threads: int | None
) -> Bottleneck:
    first, *others = stations
    limit = 100 * rate / first.use_percent
    unit = next(m.unit for m in entry.metrics if m.value == rate)
    shown = f"{digits(rate)} {unit}"
    after = next((one for one in others if one.use_percent > 0), None)
    next_limit = 100 * rate / after.use_percent if after else None
    full = f"full at about {digits(limit)} {unit} ({ratio(limit / rate)})"
    beyond = f" Next: {after.words}, {after.use_percent:.0f} %." if after else ""
    busy = first.use_percent >= BUSY
    if busy:
        used = f"{first.use_percent:.0f} % used at {shown}"
        text = f"{first.words} is the bottleneck: {used}, {full}.{beyond}"
    elif entry.target_ops_s is not None:
        text = (
            f"At its target rate no station is busy: {first.words} most, {first.use_percent:.0f} %."
        )
    elif threads and unit == "ops/s":
        each_ms, s = 1000 * threads / rate, "s" * (threads == 1)
        text = (
            f"No station is busy ({first.words} most, {first.use_percent:.0f} %): "
            f"{counted(threads, 'thread')} that wait{s} {digits(each_ms)} ms for each operation give{s} "
            f"{shown}. More threads raise the rate, until {first.words} is {full}."
        )
    else:
        text = (
            f"No station is busy ({first.words} most, {first.use_percent:.0f} %) at {shown}: more readers or "
            "writers at once raise the rate, or a limit that no monitor sees holds it back."
        )
    return Bottleneck(
        topology=entry.topology,
        test_case=entry.test_case,
        station=first.words if busy else None,
        use_percent=first.use_percent,
        limit=limit,
        next_station=after.words if after else None,
        next_limit=next_limit,
        sentence=capitalised(text),
    )
