"""Where a run's wall time went, from its journal and its records' timers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from density_study.analysis.summary.summary import TimeSummary
from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisStarted,
    Event,
    RunEnded,
    RunOpened,
)
from density_study.workloads.execution.step_times import taken

_BUILDING = ("up", "down")


def time_spent(events: Sequence[Event], measuring_s: float, now_s: float) -> TimeSummary:
    """Seconds by kind, as of `now_s` (epoch), while the analysis of the run is about to end.

    measuring_s: from workload start to exit, over all trials. Building: bring-ups and tear-downs.
    Waiting: all other time before the analysis (preparing, settling, between steps), except time in
    which no process worked on the run (between a crash and a resumption). Analysing: the latest pass
    of each stage; the stage that calls this ends a moment later.
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
    """First to last event, without time after the last step."""
    after = (AnalysisStarted, AnalysisEnded, RunEnded)
    return math.fsum(
        later.t - earlier.t
        for earlier, later in pairwise(e for e in events if not isinstance(e, after))
        if not isinstance(later, RunOpened)  # nothing worked before a resumption
    )


def _building_s(events: Iterable[Event]) -> float:
    return sum(
        ended.t - begun.t
        for begun, ended in taken(events)
        if ended is not None and begun.kind in _BUILDING
    )


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
        spent_s[newest] = now_s - begun[newest]  # in progress; earlier ones crashed
    return sum(spent_s.values()) if spent_s else None
