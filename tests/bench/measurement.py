"""`Measurement`: one line of the benchmark, with every run's value."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """`value` is the median of `runs`. `goal` in words; `holds` None where there is no goal."""

    name: str
    unit: str
    runs: tuple[float, ...]
    goal: str
    holds: bool | None

    @property
    def value(self) -> float:
        return statistics.median(self.runs)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "goal": self.goal,
            "holds": self.holds,
            "runs": list(self.runs),
        }


def at_most(name: str, unit: str, runs: list[float], limit: float) -> Measurement:
    held = statistics.median(runs) <= limit
    return Measurement(name, unit, tuple(runs), f"<= {limit:g} {unit}", held)


def at_least(name: str, unit: str, runs: list[float], limit: float) -> Measurement:
    held = statistics.median(runs) >= limit
    return Measurement(name, unit, tuple(runs), f">= {limit:g} {unit}", held)


def printed(name: str, unit: str, runs: list[float]) -> Measurement:
    """A number without a goal."""
    return Measurement(name, unit, tuple(runs), "", None)


def holds_in_all(name: str, goal: str, runs: list[bool]) -> Measurement:
    return Measurement(name, "yes=1", tuple(float(r) for r in runs), goal, all(runs))


TrialContext = Callable[[int], list[Measurement]]
"""A benchmark: number of repeats -> its measurements."""
