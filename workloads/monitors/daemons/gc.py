"""The device `gc`: pauses of each daemon's JVM, from its unified log (JDK 17 and 21), and their parser.

Its file is one of `events`, whose texts are lines of a daemon's log. The JVM's log has the decorations
utctime and tags:

    [2026-11-24T08:07:06.666+0000][gc       ] GC(7) Pause Full (Diagnostic Command) 58M->33M(97M) 212.892ms
    [2026-11-24T08:07:06.666+0000][safepoint] Safepoint "G1CollectFull", ..., Total: 213141302 ns
"""

from __future__ import annotations

import re
from datetime import datetime

from density_study.workloads.base.parsing import YEARS_S, Parsed, RejectedError, decimal
from density_study.workloads.monitors.daemons.events import Event, EventRow, parse_events

DECORATIONS = "utctime,tags"
SHORTEST_MS = 1.0
"""Shorter safepoints are skipped: there are several a second, and nobody waits for them."""
SAME_MS = 20.0
"""A safepoint that is at most this much longer than the collection in it is that collection."""
_DECORATED = re.compile(r"((?:\[[^\]]*\])+) (.*)")
_TIME = re.compile(r"\[(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{4})\]")
_PAUSE = re.compile(r"GC\(\d+\) (Pause .*?)(?: \d+[BKMG]->\d+[BKMG]\(\d+[BKMG]\))? (\d+\.\d+)ms")
_SAFEPOINT = re.compile(r'Safepoint "([^"]{1,80})", .*\bTotal: +(\d+) ns')


def parse_gc(data: bytes | str, file: str) -> Parsed[EventRow]:
    """Rounds and pauses in the file's order. Log lines without a pause are skipped. All threads of the JVM
    stand still in a pause; its kind is `gc pause` or `safepoint`.

    ParseError if the file has no title of format 1.
    """
    return parse_events(data, file, "gc", _New().pause_of)


class _New:
    """Each daemon's last collection, which says what is new of a safepoint."""

    def __init__(self) -> None:
        self._collections: dict[str, Event] = {}

    def pause_of(self, daemon: str, _epoch_s: float, text: str) -> Event | None:
        """None for a safepoint that is too short, or that is the collection before it, too."""
        pause = pause_of(text)
        return pause if pause is not None and self._is_new(daemon, pause) else None

    def _is_new(self, daemon: str, pause: Event) -> bool:
        lasted_ms = pause.duration_ms or 0.0
        if pause.kind == "gc pause":
            self._collections[daemon] = pause
            return True
        last = self._collections.get(daemon)
        within = last is not None and last.end_epoch_s > (
            pause.end_epoch_s - lasted_ms / 1000 - 0.001
        )
        same = within and last is not None and lasted_ms < (last.duration_ms or 0.0) + SAME_MS
        return lasted_ms >= SHORTEST_MS and not same


def pause_of(text: str) -> Event | None:
    """The pause that a line of a JVM's unified log reports at its end; None for other lines.

    RejectedError if the line is not one of a unified log, or a pause has no time.
    """
    decorated = _DECORATED.fullmatch(text)
    if decorated is None:
        raise RejectedError("no line of a unified log")
    decorations, message = decorated.groups()
    if match := _PAUSE.fullmatch(message):
        return Event("gc pause", match.group(1), _end_s(decorations), decimal(match.group(2)))
    if match := _SAFEPOINT.match(message):
        duration_ms = round(decimal(match.group(2)) / 1e6, 3)
        return Event("safepoint", match.group(1), _end_s(decorations), duration_ms)
    return None


def _end_s(decorations: str) -> float:
    match = _TIME.search(decorations)
    try:
        end_s = (
            datetime.strptime(match.group(1), "%Y-%m-%dT%H:%M:%S.%f%z").timestamp() if match else -1
        )
    except ValueError:
        end_s = -1
    if not YEARS_S[0] <= end_s <= YEARS_S[1]:
        raise RejectedError("a pause without a time")
    return end_s
