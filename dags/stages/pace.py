"""`Pace`: how long bring-ups, tear-downs and what surrounds a window took in a user's earlier runs on the
same hosts with the same software. Does not import Airflow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state.journal import run_folders
from density_study.workloads.execution.run import Run, import_of, load_run
from density_study.workloads.execution.step_times import step_times
from density_study.workloads.planning.plan import DOWN_ESTIMATE_S, UP_ESTIMATE_S, Plan, Step
from density_study.workloads.study.study import Study

NEWEST = 20
"""Runs that are read: hosts and software age."""


@dataclass(frozen=True)
class Pace:
    """Seconds of a bring-up with its tear-down, and the ratio of measured to estimated time around windows.
    `runs`: how many runs it is from; 0: it is the stated estimates."""

    build_s: float = UP_ESTIMATE_S + DOWN_ESTIMATE_S
    around: float = 1.0
    runs: int = 0

    def of(self, step: Step) -> float:
        """Seconds of a trial."""
        window_s = _window_s(step)
        return window_s + self.around * (step.estimate_s - window_s)

    def seconds(self, plan: Plan) -> float:
        return self.of_steps(plan.steps)

    def of_steps(self, steps: Iterable[Step]) -> float:
        """Seconds of trials, with their bring-ups and tear-downs."""
        every = list(steps)
        trials_s = sum(self.of(step) for step in every if step.kind == "trial")
        return self.build_s * len({step.build for step in every}) + trials_s

    @property
    def words(self) -> str:
        if not self.runs:
            return "times as stated for any host"
        return (
            f"times of {self.runs} earlier run{'s' if self.runs > 1 else ''} here: {self.build_s:.0f} s for "
            f"a build, {self.around:.2f} times the stated time around windows"
        )


def pace(study: Study, runs: Path) -> Pace:
    """Of the newest runs in the folder with the study's provider, hosts and software."""
    ups, downs, measured_s, planned_s, counted = list[float](), list[float](), 0.0, 0.0, 0
    for run in _alike(study, runs):
        took = step_times(run.journal)
        if not took:
            continue
        counted += 1
        for step in run.plan.steps:
            if step.index not in took:
                continue
            if step.kind == "trial":
                measured_s += max(0.0, took[step.index] - _window_s(step))
                planned_s += step.estimate_s - _window_s(step)
            else:
                (ups if step.kind == "up" else downs).append(took[step.index])
    if not ups or not downs or planned_s <= 0:
        return Pace()
    return Pace(fmean(ups) + fmean(downs), measured_s / planned_s, counted)


def _window_s(step: Step) -> float:
    return step.test_case.adjustable_s if step.test_case else 0.0


def _alike(study: Study, runs: Path) -> Iterator[Run]:
    for root in reversed(run_folders(runs)[-NEWEST:]):
        with suppress(StudyError, OSError, ValueError):
            if import_of(root) or is_rehearsal(root):
                continue
            run = load_run(root)
            same = (study.provider, study.hosts, study.stack)
            if (run.study.provider, run.study.hosts, run.study.stack) == same:
                yield run
