"""The device `gc`: pauses of each daemon's JVM, from its unified log (JDK 17 and 21), and their parser.

Format 1: `# gc format 1, host=<name>`, then rows `epoch_s,daemon,line`: a line of a daemon's log and when it
was read, or only the time in a round's first row. The JVM's log has the decorations utctime and tags:

    [2026-11-24T08:07:06.666+0000][gc       ] GC(7) Pause Full (Diagnostic Command) 58M->33M(97M) 212.892ms
    [2026-11-24T08:07:06.666+0000][safepoint] Safepoint "G1CollectFull", ..., Total: 213141302 ns
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from density_study.cluster.model.transport import Command
from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal
from density_study.workloads.monitors.devices import HOST
from density_study.workloads.monitors.dool_header import YEARS_S

FORMAT = 1
TITLE = re.compile(r"# gc format ([0-9]+), host=([^,]+)")
DECORATIONS = "utctime,tags"
SHORTEST_MS = 1.0
"""Shorter safepoints are skipped: there are several a second, and nobody waits for them."""
SAME_MS = 20.0
"""A safepoint that is at most this much longer than the collection in it is that collection."""
_DAEMON = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_DECORATED = re.compile(r"((?:\[[^\]]*\])+) (.*)")
_TIME = re.compile(r"\[(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{4})\]")
_PAUSE = re.compile(r"GC\(\d+\) (Pause .*?)(?: \d+[BKMG]->\d+[BKMG]\(\d+[BKMG]\))? (\d+\.\d+)ms")
_SAFEPOINT = re.compile(r'Safepoint "([^"]{1,80})", .*\bTotal: +(\d+) ns')


@dataclass(frozen=True)
class Pause:
    """All threads of a JVM stood still. kind: `gc pause` or `safepoint`; what: as the JVM names it."""

    kind: str
    what: str
    end_epoch_s: float
    duration_ms: float


@dataclass(frozen=True)
class GcRow:
    """A round (`source` is the host, no pause), or a pause of the daemon `source` (<node>/<daemon>)."""

    line: int
    host: str
    epoch_s: float
    source: str
    pause: Pause | None = None


def gc_command(
    host: str, output: str, period_s: float, tag: str, python: tuple[str, ...]
) -> Command:
    """Runs our collector of the daemons' logs."""
    return Command(
        name=f"monitor-gc-{host}",
        argv=(
            *(*python, "-m", "density_study.workloads.monitors.gc_sampler"),
            *("--host", host, "--period", str(period_s), "--output", output, "--tag", tag),
        ),
        env={"STUDY_TAG": tag, "STUDY_NODE": "monitor"},
    )


def title(host: str) -> str:
    """The file's first line."""
    return f"# gc format {FORMAT}, host={host}"


def parse_gc(data: bytes | str, file: str) -> Parsed[GcRow]:
    """Rounds and pauses in the file's order. Log lines without a pause are skipped.

    ParseError if the file has no title of format 1.
    """
    ledger = Ledger(data, file)
    titles = [match for line in ledger.lines if (match := TITLE.fullmatch(line.text))]
    if not titles:
        raise ledger.refuse("no gc file: no line '# gc format 1, host=...'")
    if unknown := [match.group(1) for match in titles if match.group(1) != str(FORMAT)]:
        raise ledger.refuse(f"gc format {unknown[0]}; this version reads format {FORMAT}")
    return ledger.close(ledger.read(_Reader().read))


class _Reader:
    """State of the parser: the title above the current line, the last round, each daemon's last
    collection."""

    def __init__(self) -> None:
        self._host: str | None = None
        self._round_s = 0.0
        self._collections: dict[str, Pause] = {}

    def read(self, line: Line) -> GcRow | None:
        if line.text.startswith("#"):
            about = TITLE.fullmatch(line.text)
            self._host, self._round_s = about.group(2) if about else None, 0.0
            if about is None:
                raise RejectedError("not a title")
            return None
        if not line.text.strip():
            return None
        if not line.ended:
            raise RejectedError("last line is cut off: no newline ends it")
        if self._host is None:
            raise RejectedError("no title above this row")
        return self._row(line, self._host, *[*line.text.split(",", 2), "", ""][:3])

    def _row(self, line: Line, host: str, epoch: str, daemon: str, text: str) -> GcRow | None:
        epoch_s = decimal(epoch)
        if not YEARS_S[0] <= epoch_s <= YEARS_S[1]:
            raise RejectedError(f"epoch {epoch} is not of this century")
        if not daemon and not text:
            if epoch_s <= self._round_s:
                raise RejectedError("time goes back, or occurs twice")
            self._round_s = epoch_s
            return GcRow(line.number, host, epoch_s, HOST)
        if not _DAEMON.fullmatch(daemon):
            raise RejectedError(f"not a daemon: {daemon[:40]!r}")
        pause = pause_of(text)
        if pause is None or not self._is_new(daemon, pause):
            return None
        return GcRow(line.number, host, epoch_s, daemon, pause)

    def _is_new(self, daemon: str, pause: Pause) -> bool:
        """Whether the pause counts: it is not too short, and not the safepoint of the collection before
        it."""
        if pause.kind == "gc pause":
            self._collections[daemon] = pause
            return True
        last = self._collections.get(daemon)
        within = last is not None and last.end_epoch_s > (
            pause.end_epoch_s - pause.duration_ms / 1000 - 0.001
        )
        same = within and last is not None and pause.duration_ms < last.duration_ms + SAME_MS
        return pause.duration_ms >= SHORTEST_MS and not same


def pause_of(text: str) -> Pause | None:
    """The pause that a line of a JVM's unified log reports at its end; None for other lines.

    RejectedError if the line does not belong to a unified log, or a pause has no time.
    """
    decorated = _DECORATED.fullmatch(text)
    if decorated is None:
        raise RejectedError("no line of a unified log")
    decorations, message = decorated.groups()
    if match := _PAUSE.fullmatch(message):
        return Pause("gc pause", match.group(1), _end_s(decorations), decimal(match.group(2)))
    if match := _SAFEPOINT.match(message):
        duration_ms = round(decimal(match.group(2)) / 1e6, 3)
        return Pause("safepoint", match.group(1), _end_s(decorations), duration_ms)
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
