"""`Progress` of a run, computed from its plan and its journal. Pure, except for `Tail`, which reads a file.

Estimates come from the plan. Each kind of step is corrected by the measured duration of its finished
steps divided by their planned duration.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cluster.state.events import (
    AnalysisStarted,
    Event,
    PhaseEnded,
    RunEnded,
    RunOpened,
    StepEnded,
    StepStarted,
    TrialState,
    event_of,
)
from workloads.planning.plan import Plan, Step

ANALYSIS_ESTIMATE_S = 40.0
STAGES = ("ingest", "metrics", "verdicts", "series", "report")
TRUST_ESTIMATE_S = 10.0
"""Weight of the plan's estimate in the correction, as seconds of steps that took exactly as long as
planned: one unusual early step must not distort the whole forecast (additive smoothing)."""

State = Literal["starting", "running", "analysing", "ended"]


@dataclass(frozen=True)
class Ended:
    """A step executed since the run was last opened."""

    step: Step
    outcome: str
    message: str
    seconds: float


@dataclass(frozen=True)
class Progress:
    """Seconds are wall time from the last opening of the run to its first end. `current` is the running
    step, `topology` the topology it builds or measures. `finished`: the run ended with no steps left.
    `live` and `numbers`, by trial, come from the trials' files: see `dags.run_status.live`."""

    study: str
    run: str
    state: State
    started_t: float
    elapsed_s: float
    remaining_s: float
    total: int
    ended: tuple[Ended, ...]
    current: Step | None = None
    topology: str | None = None
    stage: str | None = None
    activity: str = ""
    outcome: str | None = None
    finished: bool = False
    message: str = ""
    live: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """Number of the running step, else of the last finished one, in the plan, from 1."""
        if self.current:
            return self.current.index + 1
        return self.ended[-1].step.index + 1 if self.ended else 0

    @property
    def failed(self) -> tuple[Ended, ...]:
        return tuple(ended for ended in self.ended if ended.outcome == "failed")


def progress(plan: Plan, events: Iterable[Event], now: float) -> Progress:
    """Progress at `now` (epoch seconds), from the journal's `events` so far."""
    fold = _Fold(plan)
    for event in events:
        fold.take(event)
    return fold.result(now)


class _Fold:
    """Folds the journal's events, in order. An opening of the run restarts the count."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run = ""
        self.opened_t: float | None = None
        self.closed: set[str] = set()
        self._reset()

    def _reset(self) -> None:
        self.started: tuple[Step, float] | None = None
        self.ended: list[Ended] = []
        self.stage: str | None = None
        self.stage_t = 0.0
        self.activity = ""
        self.end: RunEnded | None = None
        self.end_t: float | None = None

    def take(self, event: Event) -> None:
        match event:
            case RunOpened():
                self.closed |= {e.step.trial for e in self.ended if e.step.trial}
                self._reset()
                self.run, self.opened_t = event.run, event.t
            case StepStarted():
                self.started = (self.plan.steps[event.index], event.t)
                self.activity = ""
            case StepEnded() if self.started:
                step, since_t = self.started
                self.ended.append(Ended(step, event.outcome, event.message, event.t - since_t))
                self.started, self.activity = None, ""
            case PhaseEnded():
                self.activity = f"{event.name} took {event.seconds:.0f} s"
            case TrialState():
                self.activity = event.state
            case AnalysisStarted():
                self.stage, self.stage_t = event.stage, self.stage_t or event.t
            case RunEnded():
                self.end = event
                self.end_t = self.end_t or event.t  # a repeated analysis writes a second end

    def result(self, now: float) -> Progress:
        end_t = self.end_t or now
        started_t = self.opened_t if self.opened_t is not None else now
        current = self.started[0] if self.started else None
        return Progress(
            study=self.plan.study,
            run=self.run,
            state=self._state(),
            started_t=started_t,
            elapsed_s=end_t - started_t,
            remaining_s=0.0 if self.end else self._remaining_s(now),
            total=len(self.plan.steps),
            ended=tuple(self.ended),
            current=current,
            topology=self.plan.builds[current.build] if current else None,
            stage=self.stage,
            activity=self.activity,
            outcome=self.end.outcome if self.end else None,
            finished=self.end is not None and self.end.finished,
            message=self.end.message if self.end else "",
        )

    def _state(self) -> State:
        if self.end:
            return "ended"
        if self.stage:
            return "analysing"
        return "running" if self.started or self.ended else "starting"

    def _remaining_s(self, now: float) -> float:
        if self.stage:
            return max(0.0, ANALYSIS_ESTIMATE_S - (now - self.stage_t))
        return self._steps_remaining_s(now) + ANALYSIS_ESTIMATE_S

    def _steps_remaining_s(self, now: float) -> float:
        current, since_t = self.started or (None, now)
        last = current or (self.ended[-1].step if self.ended else None)
        later = self.plan.steps[last.index + 1 if last else 0 :]
        seconds = sum(
            step.estimate_s * self._ratio(step.kind)
            for step in later
            if step.trial not in self.closed
        )
        if current:
            seconds += max(0.0, current.estimate_s * self._ratio(current.kind) - (now - since_t))
        return seconds

    def _ratio(self, kind: str) -> float:
        """Measured over planned seconds, for the successful steps of this kind."""
        ran = [ended for ended in self.ended if ended.step.kind == kind and ended.outcome == "ok"]
        measured_s = sum(ended.seconds for ended in ran)
        planned_s = sum(ended.step.estimate_s for ended in ran)
        return (measured_s + TRUST_ESTIMATE_S) / (planned_s + TRUST_ESTIMATE_S)


class Tail:
    """Follows a growing journal: each call of `read` returns all complete events so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._events: list[Event] = []

    def read(self) -> list[Event]:
        """All events; reads only the new part from disk. Skips incomplete lines."""
        with self.path.open("rb") as stream:
            stream.seek(self._offset)
            new = stream.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._events += [event for line in whole.splitlines() if (event := _event(line))]
        return self._events


def _event(line: bytes) -> Event | None:
    """None for a line cut off by a crash; the journal starts its next event on a new line."""
    try:
        return event_of(json.loads(line))
    except ValueError:
        return None
