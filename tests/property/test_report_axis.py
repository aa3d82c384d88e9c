"""Ticks of a logarithmic axis, for any two positive numbers."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from density_study.analysis.report.charts.figure import TICKS, log_ticks

POSITIVE = st.floats(min_value=1e-6, max_value=1e7)


@given(POSITIVE, POSITIVE)
def test_ticks_enclose_both_are_ascending_and_round(first: float, second: float) -> None:
    low, high = sorted((first, second))
    ticks = log_ticks(low, high)
    assert ticks[0] <= low
    assert high <= ticks[-1]
    assert ticks == sorted(set(ticks))
    assert len(ticks) >= 2
    for tick in ticks:
        digit = tick / 10.0 ** math.floor(math.log10(tick) + 1e-9)
        assert any(math.isclose(digit, step) for step in (1.0, 2.0, 5.0))


@given(POSITIVE, st.floats(min_value=1.0, max_value=1e4))
def test_ticks_are_few(low: float, span: float) -> None:
    assert len(log_ticks(low, low * span)) <= TICKS + 3
