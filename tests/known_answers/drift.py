"""How often are rates flagged for drift that do not drift, but vary from second to second?"""

from __future__ import annotations

import numpy as np

from density_study.analysis.validity.rules import RULES
from density_study.workloads.ycsb.facts.intervals import PARTS
from tests.known_answers.answer import Answer, KnownAnswer

TRIALS = 20_000
VARIATION = 0.1  # from second to second
MEMORIES = (0.0, 0.5, 0.7, 0.9)  # AR(1)


def by_chance() -> list[Answer]:
    return [_answer(seconds, goal) for seconds, goal in ((10, 0.05), (50, 0.05), (540, 0.001))]


def _answer(seconds: int, goal: float) -> Answer:
    shares = {memory: _flagged(seconds, memory) for memory in MEMORIES}
    return Answer(
        f"stationary rates of {seconds} s that vary by {VARIATION:.0%}, AR(1) 0 to 0.9: flagged",
        f"at most {goal:.1%}",
        ", ".join(f"{share:.1%}" for share in shares.values()),
        max(shares.values()) <= goal,
    )


def _flagged(seconds: int, memory: float) -> float:
    """By `workloads.ycsb.facts.intervals.drift`: the last third's rate over the first's."""
    rule = next(rule for rule in RULES if rule.check == "drift")
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((TRIALS, seconds)) * np.sqrt(1 - memory**2)
    noise[:, 0] = rng.standard_normal(TRIALS)
    for second in range(1, seconds):
        noise[:, second] += memory * noise[:, second - 1]
    rates, part = np.exp(VARIATION * noise), PARTS * np.arange(seconds) // seconds
    drift = rates[:, part == PARTS - 1].mean(axis=1) / rates[:, part == 0].mean(axis=1)
    return float(np.mean((drift < rule.low) | (drift > rule.high)))


KNOWN = (
    KnownAnswer(
        "drift-by-chance", "Are rates flagged for drift that do not drift?", by_chance, quick=False
    ),
)
