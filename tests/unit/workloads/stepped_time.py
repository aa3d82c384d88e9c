"""A clock of the test's own: time passes only while somebody sleeps, and a little at each reading."""

from __future__ import annotations

from types import ModuleType

import pytest

READING_S = 1e-5
"""A loop that waits without sleeping reaches its deadline too."""


class SteppedTime:
    """Replaces the module `time` in another module."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def monotonic(self) -> float:
        self.passed_s += READING_S
        return self.passed_s

    def time(self) -> float:
        return 1.8e9 + self.monotonic()

    def sleep(self, seconds: float) -> None:
        self.passed_s += seconds + READING_S  # never shorter than asked


def stepped(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> SteppedTime:
    """One clock for all `modules`."""
    made = SteppedTime()
    for module in modules:
        monkeypatch.setattr(module, "time", made)
    return made
