"""Where a run's wall time went, from its journal and its records' own stopwatches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from analysis.summary.summary import TimeSummary
from cluster.state.events import (
    AnalysisEnded,
    AnalysisStarted,
    Event,
    RunEnded,
    RunOpened,
    StepEnded,
    StepStarted,
)

_BUILDING = ("up", "down")


def time_spent(events: Sequence[Event], measuring_s: float, now_s: float) -> TimeSummary:
    """Seconds by kind, as of `now_s` (epoch), while the analysis of the run is about to end.

    measuring_s: from workload start to exit, of all trials. Building: bring-ups and tear-downs.
    Waiting: what else passed before the analysis began: preparing, settling, between steps. Time in
    which no process carried the run (a crash, then a resumption) is no part of it. Analysing is the
    newest pass over each stage; the stage that writes this ends a moment after.
    """
    if not events:
        return TimeSummary(
            measuring_s=measuring_s, building_s=0.0, waiting_s=0.0, analysing_s=None, total_s=None
        )
    acting_s = _acting_s(events)
    building_s = _building_s(events)
    analysing_s = _analysing_s(events, now_s)
    return TimeSummary(
        measuring_s=measuring_s,
        building_s=building_s,
        waiting_s=max(0.0, acting_s - measuring_s - building_s),
        analysing_s=analysing_s,
        total_s=acting_s + (analysing_s or 0.0),
    )


def _acting_s(events: Sequence[Event]) -> float:
    """First to last event, less the pauses that a re-opening ended and the time after the steps."""
    after = (AnalysisStarted, AnalysisEnded, RunEnded)
    return math.fsum(
        later.t - earlier.t
        for earlier, later in pairwise(e for e in events if not isinstance(e, after))
        if not isinstance(later, RunOpened)
    )


def _building_s(events: Iterable[Event]) -> float:
    started: dict[int, StepStarted] = {}
    total_s = 0.0
    for event in events:
        if isinstance(event, RunOpened):
            started.clear()  # what was under way then never ended
        elif isinstance(event, StepStarted):
            started[event.index] = event
        elif isinstance(event, StepEnded) and event.index in started:
            begun = started.pop(event.index)
            total_s += (event.t - begun.t) if begun.kind in _BUILDING else 0.0
    return total_s


def _analysing_s(events: Iterable[Event], now_s: float) -> float | None:
    begun: dict[str, float] = {}
    spent_s: dict[str, float] = {}
    for event in events:
        if isinstance(event, AnalysisStarted):
            begun[event.stage] = event.t
        elif isinstance(event, AnalysisEnded) and event.stage in begun:
            spent_s[event.stage] = event.t - begun.pop(event.stage)
    newest = max(begun, key=lambda stage: begun[stage], default=None)
    if newest is not None:
        spent_s[newest] = now_s - begun[newest]  # under way; older ones crashed
    return sum(spent_s.values()) if spent_s else None
