"""A call that is repeated in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeating(act: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `act` in a thread, with `every_s` between two calls, until the block ends."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(every_s):
            act()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
