"""`spans`: the course of a run as a tree of spans, from its journal. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisStarted,
    Event,
    PhaseEnded,
    RunEnded,
    RunOpened,
)
from density_study.workloads.execution.step_times import Taken, taken


@dataclass(frozen=True)
class Span:
    """`begin_t` and `end_t` in epoch seconds. `failed`: the message of a step that failed, or None."""

    name: str
    begin_t: float
    end_t: float
    about: dict[str, str] = field(default_factory=dict)
    failed: str | None = None
    within: tuple[Span, ...] = ()


def spans(study: str, run: str, events: Iterable[Event]) -> tuple[Span, ...]:
    """One span per opening of the run; in it steps, in these the phases of a bring-up, and the stages of the
    analysis. What was under way when the run was killed ends with the last event before the next opening."""
    openings: list[list[Event]] = []
    for event in events:
        if isinstance(event, RunOpened):
            openings.append([])
        if openings:
            openings[-1].append(event)
    return tuple(_opening(study, run, every) for every in openings)


def _opening(study: str, run: str, events: list[Event]) -> Span:
    end = next((event for event in events if isinstance(event, RunEnded)), None)
    last_t = max(event.t for event in events)
    return Span(
        f"study {study}",
        events[0].t,
        end.t if end else last_t,
        {"study": study, "run": run, "outcome": end.outcome if end else "interrupted"},
        (end.message or None) if end and end.outcome == "failed" else None,
        (*_steps(events, last_t), *_stages(events, last_t)),
    )


def _steps(events: list[Event], last_t: float) -> Iterator[Span]:
    steps = sorted(taken(events), key=lambda one: one.begun.t)
    phases = _phases(steps, events)
    for place, (begun, end) in enumerate(steps):
        end_t = end.t if end else last_t
        outcome = end.outcome if end else "interrupted"
        about = {"kind": begun.kind, "build": begun.build, "outcome": outcome}
        yield Span(
            begun.label,
            begun.t,
            end_t,
            {**about, **({"trial": begun.trial} if begun.trial else {})},
            end.message if end and end.outcome == "failed" else None,
            tuple(
                Span(one.name, max(begun.t, one.t - one.seconds), one.t)
                for one in phases[place]
                if one.t <= end_t
            ),
        )


def _phases(steps: Sequence[Taken], events: Iterable[Event]) -> Mapping[int, Sequence[PhaseEnded]]:
    """By the place of a step: a phase is of the step of its build that began last."""
    began, found = defaultdict(list), defaultdict(list)
    for place, one in enumerate(steps):
        began[one.begun.build].append((one.begun.t, place))
    for event in events:
        if isinstance(event, PhaseEnded):
            before = bisect_right(began[event.build], (event.t, len(steps)))
            if before:
                found[began[event.build][before - 1][1]].append(event)
    return found


def _stages(events: list[Event], last_t: float) -> Iterator[Span]:
    begun: dict[str, float] = {}
    for event in events:
        if isinstance(event, AnalysisStarted):
            begun[event.stage] = event.t
        elif isinstance(event, AnalysisEnded) and event.stage in begun:
            yield Span(f"analysis: {event.stage}", begun.pop(event.stage), event.t)
    for stage, begin_t in begun.items():
        yield Span(f"analysis: {stage}", begin_t, last_t, {"outcome": "interrupted"})
