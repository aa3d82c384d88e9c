"""When a sampler samples, and when it ends. Standard library only."""

from __future__ import annotations

import signal
import time

STOP = frozenset({signal.SIGTERM, signal.SIGINT})


def hold_stop() -> None:
    """From now on, STOP only ends the wait of `stopped_within`: a round is never cut in two."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)


def stopped_within(seconds: float) -> bool:
    """Wait so long, or for STOP.

    A process that was stopped and continued meanwhile gets a signal that nobody sent, if the time is over by
    then: CPython 3.11 and 3.12 return what sigtimedwait(2) left in memory.
    """
    found = signal.sigtimedwait(STOP, seconds)
    return found is not None and found.si_signo in STOP


def until_next(period_s: float) -> float:
    """Seconds to the next multiple of the period that is more than the clock's jitter away."""
    seconds = period_s - time.time() % period_s
    return seconds if seconds > period_s / 50 else seconds + period_s
