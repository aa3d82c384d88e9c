"""How long the steps of a run took, from its journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from density_study.cluster.state.events import Event, RunOpened, StepEnded, StepStarted
from density_study.cluster.state.journal import Journal


class Taken(NamedTuple):
    """A step that began, and its end. None: it was killed, or it runs."""

    begun: StepStarted
    ended: StepEnded | None


def taken(events: Iterable[Event]) -> Iterator[Taken]:
    """Every time that a step began, among the events of a journal: those with an end in the order of their
    ends. A step that ran twice is there twice."""
    running: dict[int, StepStarted] = {}
    for event in events:
        if isinstance(event, RunOpened):  # what was under way before has no end
            yield from (Taken(begun, None) for begun in running.values())
            running.clear()
        elif isinstance(event, StepStarted):
            running[event.index] = event
        elif isinstance(event, StepEnded) and event.index in running:
            yield Taken(running.pop(event.index), event)
    yield from (Taken(begun, None) for begun in running.values())


def step_times(journal: Journal) -> Mapping[int, float]:
    """Seconds by index of the step, of those that succeeded; of a step that ran twice, of the last time."""
    return {
        begun.index: ended.t - begun.t
        for begun, ended in taken(journal.events(RunOpened, StepStarted, StepEnded))
        if ended is not None and ended.outcome == "ok"
    }
