"""What devices write down of daemons beside numbers: their files, and the parser of these.

Format 1: `# <device> format 1, host=<name>`, then rows `epoch_s,daemon,text`: what a daemon (<node>/<daemon>)
had, and when that was read; or only the time in a round's first row. The text's form is the device's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, instant
from density_study.workloads.monitors.devices import HOST

FORMAT = 1
_DAEMON = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Event:
    """Something that a daemon had for a time. what: in words, for people. duration_ms: None for the whole
    trial."""

    kind: str
    what: str
    end_epoch_s: float
    duration_ms: float | None


@dataclass(frozen=True)
class EventRow:
    """A round (`source` is the host, no event), or an event of the daemon `source`."""

    line: int
    host: str
    epoch_s: float
    source: str
    event: Event | None = None


EventOf = Callable[[str, float, str], Event | None]
"""The event of a daemon that a text says, read at an epoch time; None: the text says none. RejectedError: it
cannot be trusted."""


def title(device: str, host: str) -> str:
    """The file's first line."""
    return f"# {device} format {FORMAT}, host={host}"


def round_row(epoch_s: float) -> str:
    return f"{epoch_s:.3f},,\n"


def event_row(epoch_s: float, daemon: str, text: str) -> str:
    return f"{epoch_s:.3f},{daemon},{text}\n"


def parse_events(data: bytes | str, file: str, device: str, event_of: EventOf) -> Parsed[EventRow]:
    """Rounds and events in the file's order. ParseError if the file has no title of format 1."""
    ledger = Ledger(data, file)
    form = re.compile(rf"# {device} format ([0-9]+), host=([^,]+)")
    titles = [match for line in ledger.lines if (match := form.fullmatch(line.text))]
    if not titles:
        raise ledger.refuse(f"no {device} file: no line '# {device} format 1, host=...'")
    if unknown := [match.group(1) for match in titles if match.group(1) != str(FORMAT)]:
        raise ledger.refuse(f"{device} format {unknown[0]}; this version reads format {FORMAT}")
    return ledger.close(ledger.read(_Reader(form, event_of).read))


class _Reader:
    """State of the parser: the title above the current line, and the last round."""

    def __init__(self, form: re.Pattern[str], event_of: EventOf) -> None:
        self._form, self._event_of = form, event_of
        self._host: str | None = None
        self._round_s = 0.0

    def read(self, line: Line) -> EventRow | None:
        if line.text.startswith("#"):
            about = self._form.fullmatch(line.text)
            self._host, self._round_s = about.group(2) if about else None, 0.0
            if about is None:
                raise RejectedError("not a title")
            return None
        if not line.text.strip():
            return None
        line.require_end()
        if self._host is None:
            raise RejectedError("no title above this row")
        return self._row(line, self._host, *[*line.text.split(",", 2), "", ""][:3])

    def _row(self, line: Line, host: str, epoch: str, daemon: str, text: str) -> EventRow | None:
        epoch_s = instant(epoch)
        if not daemon and not text:
            if epoch_s <= self._round_s:
                raise RejectedError("time goes back, or occurs twice")
            self._round_s = epoch_s
            return EventRow(line.number, host, epoch_s, HOST)
        if not _DAEMON.fullmatch(daemon):
            raise RejectedError(f"not a daemon: {daemon[:40]!r}")
        event = self._event_of(daemon, epoch_s, text)
        return None if event is None else EventRow(line.number, host, epoch_s, daemon, event)
