"""The peer check's verdict, on rates whose right verdict is known (tests/live/peer/agreement.py)."""

from __future__ import annotations

from math import prod

import pytest

from tests.live.peer.agreement import Rounds, agreement

NOISE = (0.99, 1.0, 1.01, 1.005, 0.995)
"""Of each JVM, for one way or another."""


def jvms(*steps: float, noise: tuple[float, ...] = NOISE) -> list[Rounds]:
    """Three rounds of each JVM, of which the second is disturbed; each way differs by `steps`."""
    ways = [1000.0 * prod(steps[:way]) for way in range(len(steps) + 1)]
    shifts = [
        [noise[(jvm + 2 * way) % len(noise)] for way in range(len(ways))]
        for jvm in range(len(noise))
    ]
    quiet = [[rate * shift for rate, shift in zip(ways, of, strict=True)] for of in shifts]
    return [[rates, [rates[0], *(rate / 3 for rate in rates[1:])], rates] for rates in quiet]


def test_equal_ways_agree_without_a_reason() -> None:
    found = agreement(jvms(1.0, 1.0, 1.0))
    assert found.holds and found.reasons == ()
    assert found.whole.value == pytest.approx(1.0, abs=0.01)


def test_one_large_step_is_the_reason() -> None:
    found = agreement(jvms(1.01, 0.8, 1.0))
    assert found.holds and found.reasons == (1,)
    assert found.whole.value == pytest.approx(0.808, rel=0.01)
    assert found.remainder.value == pytest.approx(1.01, rel=0.01)


def test_two_steps_are_reasons_if_one_is_not_enough() -> None:
    assert agreement(jvms(0.9, 1.0, 0.8)).reasons == (0, 2)


def test_steps_that_cancel_need_no_reason() -> None:
    assert agreement(jvms(1.25, 1.0, 0.8)).reasons == ()


def test_a_step_the_other_way_is_no_reason() -> None:
    found = agreement(jvms(1.3, 0.9, 1.0))
    assert found.reasons == (0, 1) and found.holds
    assert agreement(jvms(1.15, 0.9, 1.0)).reasons == ()


def test_noise_is_no_reason() -> None:
    """An interval wider than the margin decides nothing, whatever its middle is."""
    found = agreement(jvms(1.0, 1.0, 1.0, noise=(0.8, 1.0, 1.2, 0.9, 1.1)))
    assert not found.holds and found.reasons == ()


def test_many_small_steps_are_not_hidden() -> None:
    found = agreement(jvms(*[0.96] * 3, noise=(0.9, 1.1, 1.0, 0.95, 1.05)))
    assert not found.holds
