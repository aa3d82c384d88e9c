"""Where a run's wall time went, from its journal and its records' timers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from analysis.summary.summary import TimeSummary

Entry = Mapping[str, Any]
_ANALYSIS = ("analysis-started", "analysis-ended")
_BUILDING = ("up", "down")


def time_spent(entries: Sequence[Entry], measuring_s: float, now_s: float) -> TimeSummary:
    """Seconds by kind, as of `now_s` (epoch), while the analysis of the run is about to end.

    measuring_s: from workload start to exit, over all trials. Building: bring-ups and tear-downs.
    Waiting: all other time before the analysis (preparing, settling, between steps), except time in
    which no process worked on the run (between a crash and a resumption). Analysing: the latest pass
    of each stage; the stage that calls this ends a moment later.
    """
    if not entries:
        return TimeSummary(
            measuring_s=measuring_s, building_s=0.0, waiting_s=0.0, analysing_s=None, total_s=None
        )
    acting_s = _acting_s([entry for entry in entries if entry["event"] not in _ANALYSIS])
    building_s = _building_s(entries)
    analysing_s = _analysing_s(entries, now_s)
    return TimeSummary(
        measuring_s=measuring_s,
        building_s=building_s,
        waiting_s=max(0.0, acting_s - measuring_s - building_s),
        analysing_s=analysing_s,
        total_s=acting_s + (analysing_s or 0.0),
    )


def _acting_s(entries: Sequence[Entry]) -> float:
    """First to last event, without pauses before a resumption and time after the last step."""
    steps = [entry for entry in entries if entry["event"] != "run-ended"]
    return math.fsum(
        later["t"] - earlier["t"]
        for earlier, later in pairwise(steps)
        if later["event"] != "run-opened"
    )


def _building_s(entries: Iterable[Entry]) -> float:
    started: dict[int, Entry] = {}
    total_s = 0.0
    for entry in entries:
        if entry["event"] == "run-opened":
            started.clear()  # steps in progress at a crash never ended
        elif entry["event"] == "step-started":
            started[entry["index"]] = entry
        elif entry["event"] == "step-ended" and entry["index"] in started:
            begun = started.pop(entry["index"])
            total_s += (entry["t"] - begun["t"]) if begun["kind"] in _BUILDING else 0.0
    return total_s


def _analysing_s(entries: Iterable[Entry], now_s: float) -> float | None:
    begun: dict[str, float] = {}
    spent_s: dict[str, float] = {}
    for entry in entries:
        if entry["event"] == "analysis-started":
            begun[entry["stage"]] = entry["t"]
        elif entry["event"] == "analysis-ended" and entry["stage"] in begun:
            spent_s[entry["stage"]] = entry["t"] - begun.pop(entry["stage"])
    newest = max(begun, key=lambda stage: begun[stage], default=None)
    if newest is not None:
        spent_s[newest] = now_s - begun[newest]  # in progress; earlier ones crashed
    return sum(spent_s.values()) if spent_s else None
