"""`Pace`: how long bring-ups, tear-downs and what surrounds a window took in a user's earlier runs on the
same hosts with the same software. Does not import Airflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean

from density_study.cluster.state.events import TableCopied, TableNotCopied
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.step_times import step_times
from density_study.workloads.planning.plan import DOWN_ESTIMATE_S, UP_ESTIMATE_S, Plan, Step
from density_study.workloads.planning.stated import stated
from density_study.workloads.ycsb.copies.not_copied import uncopied


@dataclass(frozen=True)
class Pace:
    """Seconds of a bring-up and of a tear-down, and the ratio of measured to stated time around windows, by
    test case; `around` for those that never ran. `runs`: how many runs it is from; 0: it is the stated
    estimates."""

    up_s: float = UP_ESTIMATE_S
    down_s: float = DOWN_ESTIMATE_S
    around: float = 1.0
    of_test_case: Mapping[str, float] = field(default_factory=dict)
    runs: int = 0

    @property
    def build_s(self) -> float:
        return self.up_s + self.down_s

    def ratio(self, test_case: TestCase) -> float:
        return self.of_test_case.get(test_case.id, self.around)

    def of(self, step: Step) -> float:
        """Seconds of a step."""
        if not self.runs:
            return step.estimate_s
        if step.test_case is None:
            return self.up_s if step.kind == "up" else self.down_s
        window_s = step.test_case.adjustable_s
        return window_s + self.ratio(step.test_case) * (step.estimate_s - window_s)

    def of_steps(self, steps: Iterable[Step]) -> float:
        return sum(map(self.of, steps))

    def applied(self, plan: Plan) -> Plan:
        """The plan with these times as its estimates."""
        steps = (one.model_copy(update={"estimate_s": self.of(one)}) for one in plan.steps)
        return plan.model_copy(update={"steps": tuple(steps)})

    @property
    def words(self) -> str:
        if not self.runs:
            return "estimates for any host: no earlier run here"
        return (
            f"times of {self.runs} earlier run{'s' if self.runs > 1 else ''} here: {self.build_s:.0f} s for "
            f"a build, {self.around:.2f} times the stated time around windows"
        )


def pace(runs: Iterable[Run]) -> Pace:
    """The pace of these runs. Without a build or a trial among them: the stated estimates."""
    taken_s: dict[str, list[float]] = {"up": [], "down": []}
    around: dict[str, list[tuple[float, float]]] = {}
    counted = 0
    for run in runs:
        lost = uncopied(run.journal.events(TableCopied, TableNotCopied))
        took, stated_s = _shared(run.plan, step_times(run.journal)), stated(run.plan, lost)
        counted += bool(took)
        for step in run.plan.steps:
            if step.index not in took:
                continue
            if step.test_case is None:
                taken_s[step.kind].append(took[step.index])
                continue
            window_s = step.test_case.adjustable_s
            seen = max(0.0, took[step.index] - window_s), stated_s[step.index] - window_s
            around.setdefault(step.test_case.id, []).append(seen)
    ratios = {name: ratio for name, seen in around.items() if (ratio := _ratio(seen))}
    every = _ratio(list(chain.from_iterable(around.values())))
    if not all(taken_s.values()) or not every:
        return Pace()
    return Pace(fmean(taken_s["up"]), fmean(taken_s["down"]), every, ratios, counted)


def _shared(plan: Plan, took_s: Mapping[int, float]) -> dict[int, float]:
    """Two trials that were measured at once took half of their time each: one of them is journalled with
    all of it."""
    shared_s = dict(took_s)
    for index, seconds in took_s.items():
        if partner := plan.partner(plan.steps[index]):
            shared_s[index] = (seconds + took_s.get(partner.index, 0.0)) / 2
    return shared_s


def _ratio(seen: Sequence[tuple[float, float]]) -> float:
    """For the sums of measured and planned seconds."""
    planned_s = sum(planned for _, planned in seen)
    return sum(measured for measured, _ in seen) / planned_s if planned_s > 0 else 0.0
