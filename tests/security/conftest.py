"""A time limit within the process, which a test of something that may hang asks for."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


class HangError(BaseException):
    """Not a TimeoutError: that is an OSError, which code takes for a file that cannot be read."""


@pytest.fixture
def watchdog() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
