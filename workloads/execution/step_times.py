"""How long the steps of a run took, from its journal."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.state.events import StepEnded, StepStarted
from density_study.cluster.state.journal import Journal


def step_times(journal: Journal) -> Mapping[int, float]:
    """Seconds by index of the step, of those that succeeded; of a step that ran twice, of the last time."""
    begun: dict[int, float] = {}
    took: dict[int, float] = {}
    for event in journal.events(StepStarted, StepEnded):
        if isinstance(event, StepStarted):
            begun[event.index] = event.t
        elif isinstance(event, StepEnded) and event.outcome == "ok" and event.index in begun:
            took[event.index] = event.t - begun[event.index]
    return took
