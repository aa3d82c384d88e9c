"""Is a change found among a hundred series, and how often is chance called a change?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.comparison.change_points import splits
from tests.known_answers.answer import Answer, KnownAnswer

Floats = NDArray[np.float64]


def series(
    count: int, runs: int, memory: float, rng: np.random.Generator, shared: bool = True
) -> Floats:
    """Levels by series and run, of unit spread between nights; a third as much is a series' own."""
    noise = rng.standard_normal((1 if shared else count, runs + 50))
    night = noise.copy()
    for at in range(1, runs + 50):
        night[:, at] = memory * night[:, at - 1] + np.sqrt(1 - memory**2) * noise[:, at]
    return night[:, 50:] + 0.3 * rng.standard_normal((count, runs))


def many(paths: int = 10) -> list[Answer]:
    """A rate that halves, at 1 % between runs."""
    rng, answers = np.random.default_rng(1), []
    for count in (1, 2, 51, 100):
        for runs in (8, 12, 30):
            found = 0
            for _ in range(paths):
                levels = 0.01 * rng.standard_normal((count, runs))
                levels[0, runs // 2 :] -= np.log(2)
                found += [at for at, _ in splits(list(levels))[0]][:1] == [runs // 2]
            what = (
                f"a rate that halves at 1 % between runs, one of {count} series, {runs} runs: found"
            )
            answers.append(
                Answer(what, "at least 90%", f"{found / paths:.0%}", found >= 0.9 * paths)
            )
    return answers


def chance(paths: int = 200) -> list[Answer]:
    answers = []
    for runs in (10, 30, 60):
        for memory in (0.0, 0.4, 0.7):
            rng = np.random.default_rng(2)
            found = sum(any(splits(list(series(6, runs, memory, rng)))) for _ in range(paths))
            # as seldom as promised without memory; with it, the coefficient is itself an estimate
            most = 0.08 if not memory else 0.15
            what = f"nothing changed, 6 series of {runs} runs, AR(1) {memory:g}: a change is named"
            answers.append(
                Answer(what, f"at most {most:.0%}", f"{found / paths:.1%}", found / paths <= most)
            )
    return answers


KNOWN = (
    KnownAnswer("change-points", "Is a change found among many series?", many, quick=False),
    KnownAnswer(
        "change-points-by-chance", "How often is chance called a change?", chance, quick=False
    ),
)
