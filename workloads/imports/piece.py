"""`Piece`: the part of a source file that becomes one file of a record, and what the part itself says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Kind = Literal[
    "ycsb-run", "ycsb-status", "ycsb-hdr", "dfsio-results", "dfsio-io", "dfsio-history",
    "dool", "sar", "nodecpu",
]  # fmt: skip
YCSB: tuple[Kind, ...] = ("ycsb-run", "ycsb-status", "ycsb-hdr")
DFSIO: tuple[Kind, ...] = ("dfsio-results", "dfsio-io", "dfsio-history")
# Monitors of a whole machine: a host has at most one of them in a trial.
HOST_MONITORS: tuple[Kind, ...] = ("dool", "sar")
MONITORS: tuple[Kind, ...] = (*HOST_MONITORS, "nodecpu")


@dataclass(frozen=True)
class Lines:
    """Lines `first` to `last` of the source file, and their bytes. The whole file if `whole`."""

    first: int
    last: int
    data: bytes
    whole: bool = False


@dataclass(frozen=True)
class YcsbFacts:
    """What a YCSB client printed about its run. `properties` are those that its command line sets.

    at: local time of a status line, and the seconds and operations it reports. counts: attempts by
    operation as users requested them. failed: failed ones. unexpected: reads with another content than was
    written. implied: operations that run time and rate stand for. problem: why the run failed, as its own
    output shows. printed: a hash of all numbers of the summary, equal only for copies.
    """

    argv: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    at: datetime | None = None
    at_elapsed_s: int = 0
    at_operations: int | None = None
    run_s: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: int = 0
    unexpected: int = 0
    implied: int | None = None
    problem: str = ""
    printed: int = 0

    def number(self, name: str) -> int | None:
        """The property, if it is a whole number, of at most 18 digits."""
        text = self.properties.get(name, "")
        return int(text) if text.isdecimal() and len(text) <= 18 else None


@dataclass(frozen=True)
class DfsioFacts:
    """A TestDFSIO result, and the request that its console output shows, if it does."""

    mode: str
    files: int
    total_mib: float
    exec_s: float
    date_text: str
    per_stream_mib_s: float = 0.0
    asked_files: int | None = None
    asked_file_mib: float | None = None
    buffer_bytes: int | None = None

    @property
    def file_mib(self) -> float | None:
        """Size of a file, in modes in which a job processes every byte of its files once."""
        is_whole = self.mode in ("write", "read", "append")
        return self.total_mib / self.files if is_whole and self.files else None


@dataclass(frozen=True)
class SpanFacts:
    """The span of a monitor, an interval log or a job history. Times are epoch seconds; None if the file has
    none.

    subject: host of a monitor, measurement of a log, name of a job. period_s: that of a monitor. local: its
    times need a time zone. bad_lines: lines that the analysis will report and not read. lacks: what no row of
    a monitor has. tasks: maps of a history, streams of a reduce output; mib and per_stream_mib_s of the
    latter.
    """

    subject: str = ""
    tool: str = ""
    since_s: float | None = None
    until_s: float | None = None
    period_s: float = 0.0
    rows: int = 0
    local: bool = False
    bad_lines: int = 0
    lacks: tuple[str, ...] = ()
    problem: str = ""
    tasks: int | None = None
    mib: float | None = None
    per_stream_mib_s: float | None = None


Facts = YcsbFacts | DfsioFacts | SpanFacts


@dataclass(frozen=True)
class Piece:
    """file: path below the imported folder. number: among the pieces of its kind in the file, from 1.

    status: for a YCSB run, the lines of its status, where they are apart from its summary.
    """

    file: str
    kind: Kind
    number: int
    lines: Lines
    facts: Facts
    status: Lines | None = None

    def __str__(self) -> str:
        where = "" if self.lines.whole else f", lines {self.lines.first} to {self.lines.last}"
        return f"{self.file}{where}"

    @property
    def ycsb(self) -> YcsbFacts:
        assert isinstance(self.facts, YcsbFacts)
        return self.facts

    @property
    def dfsio(self) -> DfsioFacts:
        assert isinstance(self.facts, DfsioFacts)
        return self.facts

    @property
    def span(self) -> SpanFacts:
        assert isinstance(self.facts, SpanFacts)
        return self.facts


@dataclass(frozen=True)
class Refused:
    """A part of a file that is of a known format and cannot be read whole. line: 0 for the whole file."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: {self.reason}"
            if self.line
            else f"{self.file}: {self.reason}"
        )


@dataclass(frozen=True)
class Recognised:
    """What a source file holds. Neither pieces nor refused parts: a file of no known format."""

    file: str
    sha256: str = ""
    pieces: tuple[Piece, ...] = ()
    refused: tuple[Refused, ...] = ()


class Text:
    """A source file's lines, for pieces that are parts of it. altered: the data are not those of the file."""

    def __init__(self, file: str, data: bytes, altered: bool = False) -> None:
        self.file = file
        self.data = data
        self._altered = altered
        self._raw = data.split(b"\n")
        if self._raw and not self._raw[-1]:
            self._raw.pop()
        decoded = (raw.removesuffix(b"\r").decode("utf-8", "backslashreplace") for raw in self._raw)
        first = next(decoded, None)
        self.lines = () if first is None else (first.removeprefix("\ufeff"), *decoded)

    def cut(self, first: int, last: int) -> Lines:
        """Lines from `first` to `last`, from 1, byte for byte."""
        if first == 1 and last == len(self._raw):
            return Lines(first, last, self.data, whole=not self._altered)
        ended = last < len(self._raw) or self.data.endswith(b"\n")
        body = b"\n".join(self._raw[first - 1 : last]) + (b"\n" if ended else b"")
        return Lines(first, last, body)
