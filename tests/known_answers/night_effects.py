"""Does a scheduled study call runs slower in which nothing changed, and does it name a real drop?

Runs of six test cases, each with a rate and a 99th percentile, are drawn with an effect of the night, which
the next night remembers in part (AR(1)) and which moves latencies three times as much as rates. It is
either the same for all test cases, or each test case's own. Eight builds a run vary by 2.5 %. Each run is
judged as `study compare` judges it, with `rolling 10` and a tolerance of 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.comparison.between_runs import Course, judge
from tests.known_answers.answer import Answer, KnownAnswer

TEST_CASES, NIGHTS, WINDOW, TOLERANCE = 6, 90, 10, 0.05
BUILDS = 0.025 / np.sqrt(8)
LATENCY = 3.0
"""Effect of a night on a 99th percentile, that on a rate being 1."""
Levels = NDArray[np.float64]


@dataclass(frozen=True)
class Nights:
    """Standard deviation of the night effect on rates, its AR(1) coefficient, drift a night, and whether one
    night is the same for all test cases."""

    spread: float
    memory: float
    drift: float = 0.0
    shared: bool = True

    def __str__(self) -> str:
        drift = f", drift {self.drift:.1%} a night" if self.drift else ""
        alike = "test cases alike" if self.shared else "each test case its own"
        return f"{self.spread:.0%} between nights, AR(1) {self.memory:g}{drift}, {alike}"

    def drawn(self, runs: int, rng: np.random.Generator) -> Levels:
        """(run, number): rates, then percentiles, turned so that lower is worse."""
        night = self.course(runs, rng)
        night = np.broadcast_to(night, (runs, TEST_CASES))
        every = np.hstack([night, LATENCY * night])
        every = every + BUILDS * rng.standard_normal(every.shape)
        return every - self.drift * np.arange(runs)[:, None]

    def course(self, runs: int, rng: np.random.Generator) -> Levels:
        """(run, 1 or test case): what each night does to a rate's logarithm, without the drift."""
        noise = rng.standard_normal((runs, 1 if self.shared else TEST_CASES))
        night = np.empty_like(noise)
        night[0] = noise[0]
        for at in range(1, runs):
            night[at] = self.memory * night[at - 1] + np.sqrt(1 - self.memory**2) * noise[at]
        return night * self.spread


def named(levels: Levels, at: int) -> bool:
    """Whether the run at this place is called slower, beyond the tolerance, in any number."""
    runs = tuple(f"{number:04d}" for number in range(at + 1))
    courses = {
        str(n): Course(runs, tuple(column)) for n, column in enumerate(levels[: at + 1].T.tolist())
    }
    before = runs[max(0, at - WINDOW) : at]
    found = judge(courses, before, True, TOLERANCE).values()
    return any(one is not None and one.is_regression for one in found)


def false_alarms(paths: int = 60) -> list[Answer]:
    cells = [
        *(Nights(spread, 0.0) for spread in (0.0, 0.01, 0.02, 0.03, 0.05)),
        *(
            Nights(spread, 0.7, shared=shared)
            for spread in (0.03, 0.05)
            for shared in (True, False)
        ),
        Nights(0.03, 0.0, shared=False),
        Nights(0.02, 0.7, drift=0.002),
    ]
    return [
        Answer(
            f"false alarms in {NIGHTS} nights from the first run on, {cell}",
            "at most 1",
            f"{(count := _alarms(cell, paths)):.2f} (mean of {paths} courses)",
            count <= 1,
        )
        for cell in cells
    ]


def _alarms(cell: Nights, paths: int) -> float:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(paths):
        levels = cell.drawn(NIGHTS, rng)
        found += sum(named(levels, at) for at in range(1, NIGHTS))
    return found / paths


def drops(paths: int = 100, histories: Sequence[int] = (10, 20, 30, 60)) -> list[Answer]:
    """A drop of all rates by 10 %, percentiles unchanged. What is reachable is printed; a night that is the
    same for all test cases hides a drop as well as one test case would, however many there are."""
    answers = []
    for history in histories:
        for cell in (Nights(0.03, 0.0), Nights(0.03, 0.7), Nights(0.03, 0.0, shared=False)):
            share = _named_within(cell, history, 3, paths)
            goal = (0.75 if cell.shared else 0.9) if history == 60 else 0.0
            answers.append(
                Answer(
                    f"a drop by 10 % named within 3 nights, after {history} runs, {cell}",
                    f"at least {goal:.0%}" if goal else "printed",
                    f"{share:.0%}",
                    share >= goal,
                )
            )
    return answers


def _named_within(cell: Nights, history: int, nights: int, paths: int) -> float:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(paths):
        levels = cell.drawn(history + nights, rng)
        levels[history:, :TEST_CASES] += np.log(0.9)
        found += any(named(levels, at) for at in range(history, history + nights))
    return found / paths


KNOWN = (
    KnownAnswer(
        "night-effects", "How often is a run called slower in which nothing changed?", false_alarms,
        quick=False,
    ),
    KnownAnswer("night-drops", "How soon is a real drop named?", drops, quick=False),
)  # fmt: skip
