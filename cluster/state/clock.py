"""`Clock`: the time that a run goes by. Its journal has it: simulated clusters have a time of their own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    def now_s(self) -> float:
        """Epoch seconds."""

    def monotonic_s(self) -> float:
        """Seconds of a clock that is never set, for durations."""


class RealClock:
    def now_s(self) -> float:
        return time.time()

    def monotonic_s(self) -> float:
        return time.monotonic()


REAL = RealClock()


@dataclass
class SimulatedClock:
    """Stands still until somebody advances it."""

    at_s: float

    def now_s(self) -> float:
        return self.at_s

    def monotonic_s(self) -> float:
        return self.at_s

    def advance(self, seconds: float) -> None:
        self.at_s += seconds
