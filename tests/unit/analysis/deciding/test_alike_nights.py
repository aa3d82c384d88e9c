"""Runs of neighbouring nights may be alike: then the last run of the baseline tells more than its mean."""

from __future__ import annotations

from math import log, pi, sin
from typing import Any

import pytest

from density_study.analysis.comparison import between_runs
from density_study.analysis.comparison.between_runs import Course, Judged, judge

WAVE = [0.03 * sin(2 * pi * night / 30) for night in range(80)]
"""A night is much like the one before, and unlike that of a week ago."""


def judged(levels: list[float], drop: float, window: int = 10) -> Judged:
    runs = tuple(f"{night:04d}" for night in range(len(levels)))
    course = Course(runs, (*levels[:-1], levels[-1] + log(1 - drop)))
    found = judge({"rate": course}, runs[-1 - window : -1], True, 0.05)["rate"]
    assert found is not None
    return found


@pytest.mark.parametrize("nights", [61, 68, 76])
def test_a_drop_is_seen_against_the_night_before(nights: int) -> None:
    found = judged(WAVE[:nights], 0.08)
    assert found.memory > 0.5 and found.is_regression
    assert found.change == pytest.approx(log(0.92), abs=0.015)
    assert not judged(WAVE[:nights], 0.0).is_slower


def test_independent_nights_are_held_against_the_mean() -> None:
    independent = [0.03 * (-1) ** night for night in range(60)]
    assert judged(independent, 0.0).memory == 0.0


def test_the_deviations_of_a_number_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    compute = between_runs._deviations

    def counted(one: Course, together: int, window: int) -> Any:
        asked.append((*one.runs, str(together)))
        return compute(one, together, window)

    monkeypatch.setattr(between_runs, "_deviations", counted)
    judged(WAVE[:61], 0.0)
    assert len(asked) == len(set(asked)) == len(between_runs.TOGETHER)


def test_few_nights_tell_nothing_about_it() -> None:
    assert judged(WAVE[:31], 0.0).memory == 0.0
    assert judged(WAVE[:34], 0.0).memory > 0.5
