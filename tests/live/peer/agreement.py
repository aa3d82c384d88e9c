"""Whether the first and the last of several ways to do the same agree, or which steps between are why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from density_study.analysis.statistics.interval import Interval, mean_interval

Rounds = Sequence[Sequence[float]]
"""Of one JVM: the rate of each way, per round."""
MARGIN = 0.05


@dataclass(frozen=True)
class Ratio:
    """Later over first: the geometric mean over JVMs, with the 95 % interval that they give."""

    of_jvms: tuple[float, ...]

    @property
    def value(self) -> float:
        return exp(sum(map(log, self.of_jvms)) / len(self.of_jvms))

    @property
    def interval(self) -> Interval:
        return mean_interval(self.of_jvms)

    @property
    def agrees(self) -> bool:
        """Whether all of the interval is within MARGIN of 1."""
        return self.interval.low >= 1 - MARGIN and self.interval.high <= 1 + MARGIN

    @property
    def is_clear(self) -> bool:
        """Whether the interval is without 1."""
        return not self.interval.low <= 1 <= self.interval.high

    @property
    def distance(self) -> float:
        """How far it is from 1, in logarithms."""
        return abs(log(self.value))

    def over(self, other: Ratio) -> Ratio:
        return Ratio(tuple(a / b for a, b in zip(self.of_jvms, other.of_jvms, strict=True)))

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.interval.low:.3f} to {self.interval.high:.3f})"


@dataclass(frozen=True)
class Agreement:
    """The last way over the first; `steps` from each way to the next; `reasons` are the places of those
    steps that explain what exceeds MARGIN; `remainder` is the ratio without them."""

    whole: Ratio
    steps: tuple[Ratio, ...]
    reasons: tuple[int, ...]
    remainder: Ratio

    @property
    def holds(self) -> bool:
        return self.remainder.agrees


def agreement(jvms: Sequence[Rounds]) -> Agreement:
    """Only a clear step can be a reason. The one without which the remainder is nearest to 1 comes first,
    and no more are named than are needed."""
    ways = len(jvms[0][0])
    whole = _ratio(jvms, 0, ways - 1)
    steps = tuple(_ratio(jvms, way, way + 1) for way in range(ways - 1))
    left = {place: step for place, step in enumerate(steps) if step.is_clear}
    remainder, reasons = whole, list[int]()
    while left and not remainder.agrees:
        without = {place: remainder.over(step) for place, step in left.items()}
        best = min(without, key=lambda place: without[place].distance)
        if without[best].distance >= remainder.distance:
            break
        remainder = without[best]
        reasons.append(best)
        del left[best]
    return Agreement(whole, steps, tuple(sorted(reasons)), remainder)


def _ratio(jvms: Sequence[Rounds], first: int, later: int) -> Ratio:
    """For each JVM the median of its rounds: some second of another program is no step."""
    return Ratio(tuple(median(rates[later] / rates[first] for rates in jvm) for jvm in jvms))
