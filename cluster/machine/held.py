"""`held`: a temporary change of this machine, which is undone whatever happens to the program that made it.

Standard library only: it runs on hosts, as a process of its own that outlives connection and controller.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType


def held(seconds: float, begin: Callable[[], object], end: Callable[[], object]) -> None:
    """`begin`, wait, `end`; a TERM ends the wait. Prints {"begun": epoch} and {"ended": epoch}.

    `end` is called even if `begin` failed half-way, so it must be safe then."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        begin()
        print(json.dumps({"begun": time.time()}), flush=True)
        time.sleep(seconds)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end()
        print(json.dumps({"ended": time.time()}), flush=True)


def _stop(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)
