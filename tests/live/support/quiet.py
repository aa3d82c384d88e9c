"""Load of this machine, and waiting until it is idle: for tests that measure CPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def busy_ticks() -> tuple[int, int]:
    """(busy, all) of all cores since boot, from the kernel's own counters. Busy is neither idle,
    waiting, nor stolen."""
    user, nice, system, idle, iowait, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    busy = user + nice + system + irq + softirq
    return busy, busy + idle + iowait + steal


def busy_percent(seconds: float) -> float:
    """Percent of all cores, over the next `seconds`."""
    before = busy_ticks()
    time.sleep(seconds)
    after = busy_ticks()
    return 100 * (after[0] - before[0]) / (after[1] - before[1])


def wait_for_quiet(
    most_percent: float, deadline: float, busy: Callable[[], float] = lambda: busy_percent(5.0)
) -> float | None:
    """None as soon as the load is at most `most_percent`; the last load, if `deadline` (of the
    monotonic clock) passes before."""
    while (load := busy()) > most_percent:
        if time.monotonic() > deadline:
            return load
    return None
