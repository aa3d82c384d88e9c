"""Answers of web servers within limits: a daemon of others may send without end, or a byte a second."""

from __future__ import annotations

import http.client
import io
import time
from typing import Any

MOST_BYTES = 2**28
"""For one answer. /jmx of a RegionServer shows some kilobytes for each region."""
MOST_S = 120.0
"""Until the end of one answer."""


class LimitedResponse(http.client.HTTPResponse):
    """For a connection's `response_class`. OSError where the answer becomes too large or too late."""

    def __init__(self, *words: Any, **given: Any) -> None:
        super().__init__(*words, **given)
        self.fp = io.BufferedReader(_Within(self.fp.detach()))

    def begin(self) -> None:
        super().begin()
        if (self.length or 0) > MOST_BYTES:
            raise OSError(f"its answer has {self.length} bytes; at most {MOST_BYTES} are read")


class _Within(io.RawIOBase):
    """What `raw` gives, head and sizes of chunks included. It waits no longer than its socket does."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._left = MOST_BYTES
        self._ends_s = time.monotonic() + MOST_S

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() > self._ends_s:
            raise TimeoutError(f"its answer did not end within {MOST_S:g} s")
        count: int | None = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise OSError(f"its answer has more than {MOST_BYTES >> 20} MiB")
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()
