"""A test of CPU shares waits for a quiet machine, up to a timeout."""

from __future__ import annotations

import time

from tests.live.support.quiet import wait_for_quiet


def test_it_waits_until_the_machine_is_quiet() -> None:
    readings = iter([80.0, 2.0, 0.5])
    assert wait_for_quiet(1.0, time.monotonic() + 60, lambda: next(readings)) is None
    assert list(readings) == []


def test_it_gives_up_with_the_last_measured_load() -> None:
    assert wait_for_quiet(1.0, time.monotonic() - 1, lambda: 80.0) == 80.0
