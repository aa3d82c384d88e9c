"""`Progress` of a run, computed from its plan and the events of its journal. Pure.

Estimates come from the plan. Each kind of step is corrected by the measured duration of its finished
steps divided by their planned duration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import (
    AnalysisStarted,
    ClusterKept,
    Event,
    Intent,
    NoiseMeasured,
    PhaseEnded,
    PhasesStarted,
    PhaseState,
    QuestionsLeft,
    RepetitionsEnded,
    RunEnded,
    RunOpened,
    StepEnded,
    StepStarted,
    TrialsCleared,
    TrialState,
    kept_in,
)
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.planning.stated import stated
from density_study.workloads.ycsb.copies.not_copied import uncopied

if TYPE_CHECKING:
    from density_study.dags.run_status.newest import Sample
    from density_study.jobs.first_look.look import FirstLook


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
    step, `topology` the topology it builds or measures. `activity`, for `activity_s`: the phases of its
    bring-up that run now, or the state of its trial; `detail`: the newest node or answer. `finished`: the run
    ended with no steps left.
    `precise`: why its repetitions ended before the most that it may take. `noise`: what its first repetitions
    show of it.
    `live`, the CPU of `nodes`, the `newest` second, and first `looks` at closed trials by name come from the
    trials' files: see `dags.run_status.live`."""

    study: str
    run: str
    state: State
    elapsed_s: float
    remaining_s: float
    total: int
    ended: tuple[Ended, ...]
    current: Step | None = None
    topology: str | None = None
    stage: str | None = None
    activity: str = ""
    activity_s: float = 0.0
    detail: str = ""
    outcome: str | None = None
    finished: bool = False
    message: str = ""
    kept: ClusterKept | None = None
    live: str = ""
    nodes: str = ""
    precise: str = ""
    noise: str = ""
    looks: Mapping[str, FirstLook] = field(default_factory=dict)
    newest: Sample | None = None

    @property
    def position(self) -> int:
        """Number of the running step, else of the last finished one, in the plan, from 1."""
        if self.current:
            return self.current.index + 1
        return self.ended[-1].step.index + 1 if self.ended else 0

    @property
    def doing(self) -> str:
        """`create, 34 s: copy-stack on h7`; "" without an activity."""
        if not self.activity:
            return ""
        return f"{self.activity}, {duration(self.activity_s)}{self.detail and f': {self.detail}'}"

    @property
    def failed(self) -> tuple[Ended, ...]:
        return tuple(ended for ended in self.ended if ended.outcome == "failed")


_SPARING = (RepetitionsEnded, QuestionsLeft)


def progress(plan: Plan, events: Iterable[Event], now: float) -> Progress:
    """Progress at `now` (epoch seconds), from the journal's `events` so far. An opening of the run restarts
    the count."""
    every = list(events)
    begin = max((at for at, event in enumerate(every) if isinstance(event, RunOpened)), default=0)
    recent = every[begin:]
    opened = recent[0] if recent and isinstance(recent[0], RunOpened) else None
    stages = [event for event in recent if isinstance(event, AnalysisStarted)]
    ends = [event for event in recent if isinstance(event, RunEnded)]
    end = ends[-1] if ends else None
    lost = uncopied(recent)
    measured = next((e for e in reversed(every) if isinstance(e, NoiseMeasured)), None)
    steps = _Steps(plan, recent, stated(plan, lost) if lost else {})
    if end:
        remaining_s = 0.0
    elif stages:
        remaining_s = max(0.0, ANALYSIS_ESTIMATE_S - (now - stages[0].t))
    else:
        closed = {e.trial for e in every[:begin] if isinstance(e, StepEnded) and e.trial}
        closed |= {trial for e in every if isinstance(e, _SPARING) for trial in e.spared}
        closed |= {*plan.after(plan.planned)} if measured is None else {*measured.spared}
        remaining_s = steps.remaining_s(closed, now) + ANALYSIS_ESTIMATE_S
    state: State = "running" if steps.current or steps.ended else "starting"
    return Progress(
        study=plan.study,
        run=opened.run if opened else "",
        state="ended" if end else "analysing" if stages else state,
        # a repeated analysis writes a second end
        elapsed_s=(ends[0].t if ends else now) - (opened.t if opened else now),
        remaining_s=remaining_s,
        total=len(plan.steps),
        ended=tuple(steps.ended),
        current=steps.current,
        topology=plan.builds[steps.current.build] if steps.current else None,
        stage=stages[-1].stage if stages else None,
        activity=steps.activity,
        activity_s=now - steps.activity_t,
        detail=steps.detail,
        outcome=end.outcome if end else None,
        finished=end is not None and end.finished,
        message=end.message if end else "",
        kept=None if end else kept_in(every),
        precise=next((_ended(e) for e in reversed(every) if isinstance(e, _SPARING)), ""),
        noise=measured.words if measured else "",
    )


def _ended(ended: RepetitionsEnded | QuestionsLeft) -> str:
    if isinstance(ended, QuestionsLeft):
        return ended.words
    return f"after {ended.repetition} repetitions {ended.why}: the run takes no more"


def _unplanned(plan: Plan, event: StepStarted) -> StudyError:
    return StudyError(
        f"the journal has a step {event.index}, and the plan has {len(plan.steps)} steps.",
        f"run of study {plan.study!r}",
        "restore its plan.json and its journal from one backup.",
    )


class _Steps:
    """The steps that ended, and the one that runs, since the run was last opened. `stated`: seconds of steps
    in place of the plan's."""

    def __init__(self, plan: Plan, events: Iterable[Event], stated: Mapping[int, float]) -> None:
        self.plan = plan
        self.stated = stated
        self.ended: list[Ended] = []
        self.current: Step | None = None
        self.since_t = 0.0
        self.activity = self.detail = ""
        self.activity_t = 0.0
        self.phases: list[tuple[float, list[str]]] = []  # those that run, the innermost last
        self.cleared: set[str] = set()
        for event in events:
            match event:
                case TrialsCleared():
                    self.cleared.update(event.trials)
                case StepStarted():
                    if event.index >= len(plan.steps):
                        raise _unplanned(plan, event)
                    self.current, self.since_t = plan.steps[event.index], event.t
                    self.cleared.discard(str(event.trial))
                    self._phases([])
                case StepEnded() if self.current:
                    seconds = event.t - self.since_t
                    self.ended.append(Ended(self.current, event.outcome, event.message, seconds))
                    self.current = None
                    self._phases([])
                case PhasesStarted():
                    self._phases([*self.phases, (event.t, [*event.names])])
                case PhaseEnded():
                    left = (
                        (t, [name for name in names if name != event.name])
                        for t, names in self.phases
                    )
                    self._phases([(t, names) for t, names in left if names])
                case PhaseState():
                    self.detail = event.state
                case Intent() if self.phases and (event.node or event.host):
                    self.detail = f"{event.act} on {event.node or event.host}"
                case TrialState():
                    self.activity, self.activity_t = event.state, event.t

    def _phases(self, running: list[tuple[float, list[str]]]) -> None:
        self.phases, self.detail = running, ""
        self.activity_t, names = running[-1] if running else (0.0, [])
        self.activity = ", ".join("bring-up" if name == "total" else name for name in names)

    def remaining_s(self, closed: Collection[str], now: float) -> float:
        """Seconds of the steps still to come: those after the last one, without the trials that were `closed`
        before the run was opened again, and the trials that were cleared since. A build without a trial to
        measure is not built."""
        last = self.current or (self.ended[-1].step if self.ended else None)
        position, here = (last.index, (last.build, last.beside)) if last else (-1, ())
        partner = self.plan.partner(self.current) if self.current else None  # runs as well
        trials = {
            step.trial
            for step in self.plan.trials
            if step.trial in self.cleared or (step.index > position and step.trial not in closed)
            if step != partner
        }
        builds = {*here, *(step.build for step in self.plan.trials if step.trial in trials)}
        seconds = sum(
            self._forecast_s(step)
            for step in self.plan.steps
            if (step.trial in trials if step.kind == "trial" else step.build in builds)
            and (step.kind == "trial" or step.index > position or step.build not in here)
        )
        if self.current:
            run_s = sum(self._forecast_s(one) for one in (self.current, partner) if one)
            seconds += max(0.0, run_s - (now - self.since_t))
        return seconds

    def _forecast_s(self, step: Step) -> float:
        """The estimate, times measured over planned seconds of the successful steps of this kind."""
        ran = [one for one in self.ended if one.step.kind == step.kind and one.outcome == "ok"]
        measured_s = sum(one.seconds for one in ran)
        planned_s = sum(self._stated_s(one.step) for one in ran)
        weight = (measured_s + TRUST_ESTIMATE_S) / (planned_s + TRUST_ESTIMATE_S)
        return self._stated_s(step) * weight

    def _stated_s(self, step: Step) -> float:
        return self.stated.get(step.index, step.estimate_s)
