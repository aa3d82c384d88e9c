"""The device `stalls`: thread dumps of daemons that stall, and what each one shows.

Its file is one of `events`. A text is `duration_ms,number,words`: how long the stall lasted, the number of
its dump (0: it has none), and what was found. The dumps lie beside the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from density_study.workloads.base.parsing import Parsed, ParseError, RejectedError, decimal, whole
from density_study.workloads.monitors.daemons.events import Event, EventRow, parse_events

NAME = "stalls"
KIND = "stall"
STALL_S = 2.0
MANY_BLOCKED = 5
"""Threads: with fewer, a lock is short of nobody."""
WANTED = ("calls", "active_handlers", "blocked_threads")
"""Columns of `jmx` that show whether a daemon moves."""


class Pulse:
    """Whether one daemon moves, from one answer to the next."""

    def __init__(self) -> None:
        self._answered_s: float | None = None
        self._moved_s = self._free_s = 0.0
        self._calls: float | None = None

    def stall(self, now_s: float, answer: Mapping[str, float]) -> tuple[float, str] | None:
        """Since when it stands still, and how that shows; None: it moves, or never answered. answer: its
        columns; empty if there is none."""
        if not answer:
            since_s, what = self._answered_s, "it did not answer"
        else:
            since_s, what = self._of_answer(now_s, answer)
        return (since_s, what) if since_s is not None and now_s - since_s >= STALL_S else None

    def _of_answer(self, now_s: float, answer: Mapping[str, float]) -> tuple[float, str]:
        first = self._answered_s is None
        self._answered_s = now_s
        calls, blocked = answer.get("calls"), answer.get("blocked_threads", 0.0)
        if first or calls is None or calls != self._calls or not answer.get("active_handlers"):
            self._moved_s = now_s
        if first or blocked < MANY_BLOCKED:
            self._free_s = now_s
        self._calls = calls
        if self._moved_s <= self._free_s:
            return self._moved_s, f"no call of {answer.get('active_handlers', 0):.0f} ended"
        return self._free_s, f"{blocked:.0f} threads were blocked"


def text_of(duration_s: float, number: int, words: str) -> str:
    return f"{1000 * duration_s:.0f},{number},{' '.join(words.split())}"


def parse_stalls(data: bytes | str, file: str) -> Parsed[EventRow]:
    """ParseError if the file has no title of format 1."""
    return parse_events(data, file, NAME, _event_of)


def _event_of(_daemon: str, epoch_s: float, text: str) -> Event:
    duration_ms, number, words = [*text.split(",", 2), "", ""][:3]
    whole(number)
    if not words:
        raise RejectedError("a stall without words")
    return Event(KIND, words, epoch_s, decimal(duration_ms))


def dump_name(host: str, daemon: str, number: int) -> str:
    """File name of a dump, beside the monitor's own file."""
    return f"{host}.{NAME}.{daemon.replace('/', '.')}.{number}.txt"


def dumps(host: str, text: str) -> Sequence[str]:
    """File names of the dumps that a sampler's file tells of."""
    try:
        rows = parse_stalls(text, NAME).rows
    except ParseError:
        return ()
    lines = text.split("\n")
    numbered = [
        (row.source, int(lines[row.line - 1].split(",", 4)[3])) for row in rows if row.event
    ]
    return [dump_name(host, source, number) for source, number in numbered if number]
