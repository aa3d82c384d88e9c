"""Shared by all parsers: the ledger of lines, and strict reading of numbers.

A parser is pure and uses only the standard library. It takes a file's content and name, and returns a
`Parsed`: its rows, and the fate of every line. For any input,

    parsed + skipped + quarantined == number of lines

holds by construction, because each line has exactly one fate in the `Ledger`. A parser raises only
`ParseError`, and only if the whole file has an unknown format. Lines that cannot be trusted are
quarantined with file, line and reason; they never become numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from density_study.cluster.model.errors import StudyError

Row = TypeVar("Row", covariant=True)

EXCERPT_CHARACTERS = 200
MAX_LINE_BYTES = 2**22
"""No tool writes longer lines; longer ones are quarantined without decoding, to bound memory."""
EXACT_INTEGER_LIMIT = 2**53  # a float holds every whole number below this limit
LONG_MAX = 2**63 - 1
YEARS_S = (1e9, 4.2e9)  # 2001 to 2103: plausible times
BOM = b"\xef\xbb\xbf"

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"-?[0-9]+")
_NOT_FINITE = frozenset({"∞", "-∞", "nan", "inf", "-inf", "infinity", "-infinity", "�"})


class ParseError(StudyError):
    """The whole file has an unknown format. `line` is 1-based; 0 if the fault has no line."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(
            what=f"{reason}.",
            where=f"{file}:{line}",
            remedy="check that the file is the complete, unmodified output of the tool.",
        )
        self.file = file
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[type[ParseError], tuple[str, int, str]]:
        return ParseError, (self.file, self.line, self.reason)  # Spark pickles it


class RejectedError(ValueError):
    """A line's content cannot be trusted; the message is the reason. Parsers catch it."""


@dataclass(frozen=True)
class Quarantined:
    """A line that was not understood or not trusted. `text` is an excerpt of at most 200 characters."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class Parsed(Generic[Row]):
    """Result of parsing a file: rows, and the fate of every line.

    parsed: number of lines that became rows; skipped: known lines without data (banners, blank lines).
    """

    rows: tuple[Row, ...]
    parsed: int
    skipped: int
    quarantined: tuple[Quarantined, ...]

    @property
    def lines(self) -> int:
        return self.parsed + self.skipped + len(self.quarantined)


@dataclass(frozen=True)
class Line:
    """A line without its newline. `ended` is false for a last line without one."""

    number: int
    text: str
    ended: bool

    def require_end(self) -> None:
        """RejectedError if it is not ended."""
        if not self.ended:
            raise RejectedError("last line is cut off: no newline ends it")


class _Fate(Enum):
    PARSED = auto()
    SKIPPED = auto()


class Ledger:
    """The fates of one file's lines. Every line has one fate; a line without one is quarantined.

    `lines` holds the lines that are UTF-8; the others are quarantined from the start. A later fate
    replaces an earlier one, so that a parser can quarantine a block after reading its lines.
    """

    def __init__(self, data: bytes | str, file: str) -> None:
        self.file = file
        self._texts = _split(data)
        self._fates: list[_Fate | str] = [why or "not understood" for _, why in self._texts]
        self.lines = tuple(line for line, unreadable in self._texts if unreadable is None)

    def read(self, row_of: Callable[[Line], Row | None]) -> list[Row]:
        """Rows of a file with at most one row per line: `row_of` returns the row, None for a known line
        without data, or raises RejectedError."""
        rows = []
        for line in self.lines:
            try:
                row = row_of(line)
            except RejectedError as error:
                self.quarantine(str(error), line)
                continue
            if row is None:
                self.skip(line)
            else:
                rows.append(row)
                self.parse(line)
        return rows

    def parse(self, *lines: Line) -> None:
        """These lines became rows."""
        self._set(lines, _Fate.PARSED)

    def skip(self, *lines: Line) -> None:
        """These lines are known and contain no data."""
        self._set(lines, _Fate.SKIPPED)

    def quarantine(self, reason: str, *lines: Line) -> None:
        """These lines are not understood or not trusted."""
        self._set(lines, reason)

    def _set(self, lines: Iterable[Line], fate: _Fate | str) -> None:
        for line in lines:
            self._fates[line.number - 1] = fate

    def close(self, rows: Iterable[Row]) -> Parsed[Row]:
        """The result. Lines without a fate are quarantined as not understood."""
        return Parsed(
            rows=tuple(rows),
            parsed=self._fates.count(_Fate.PARSED),
            skipped=self._fates.count(_Fate.SKIPPED),
            quarantined=tuple(
                Quarantined(self.file, line.number, fate, line.text[:EXCERPT_CHARACTERS])
                for (line, _), fate in zip(self._texts, self._fates, strict=True)
                if isinstance(fate, str)
            ),
        )

    def refuse(self, reason: str, line: int = 0) -> ParseError:
        """The error for a file of an unknown format."""
        return ParseError(self.file, line, reason)


def _split(data: bytes | str) -> list[tuple[Line, str | None]]:
    r"""Each line, and the reason if it must not be read. Only \n ends a line."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    pieces = raw.removeprefix(BOM).split(b"\n")
    last = pieces.pop()
    lines = [decoded(number, piece, True) for number, piece in enumerate(pieces, start=1)]
    return [*lines, decoded(len(pieces) + 1, last, False)] if last else lines


def decoded(number: int, piece: bytes, ended: bool) -> tuple[Line, str | None]:
    r"""A line from its bytes without \n, and the reason if it must not be read. Drops one \r at the end."""
    piece = piece.removesuffix(b"\r")
    if len(piece) > MAX_LINE_BYTES:
        text = piece[:EXCERPT_CHARACTERS].decode("utf-8", "backslashreplace")
        return Line(number, text, ended), f"longer than {MAX_LINE_BYTES} bytes"
    try:
        return Line(number, piece.decode("utf-8"), ended), None
    except UnicodeDecodeError:
        return Line(number, piece.decode("utf-8", "backslashreplace"), ended), "not UTF-8"


def decimal(text: str) -> float:
    """A finite number >= 0 in the C locale: no comma, no NaN, no underscore, no blank.

    Raises RejectedError with the reason.
    """
    if not _DECIMAL.fullmatch(text):
        raise RejectedError(_why_not_a_number(text))
    value = float(text)
    if value < 0:
        raise RejectedError(f"negative number {_short(text)}")
    if not math.isfinite(value) or value >= EXACT_INTEGER_LIMIT:
        raise RejectedError(f"number too large: {_short(text)}")
    return value


def instant(text: str) -> float:
    """A time in epoch seconds. RejectedError as of `decimal`, and for one that is not of this century."""
    found = decimal(text)
    if not YEARS_S[0] <= found <= YEARS_S[1]:
        raise RejectedError(f"epoch {text} is not of this century")
    return found


def whole(text: str, most: int = LONG_MAX) -> int:
    """A whole number from 0 to `most`. Raises RejectedError with the reason."""
    if not _WHOLE.fullmatch(text):
        raise RejectedError(_why_not_a_number(text))
    if text.startswith("-"):
        raise RejectedError(f"negative number {_short(text)}")
    if len(text) > 19 or int(text) > most:
        raise RejectedError(f"number too large: {_short(text)}")
    return int(text)


def json_object(text: str) -> dict[str, Any]:
    """The JSON object that makes up the whole text. RejectedError otherwise."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise RejectedError("not JSON, or cut off") from None
    if not isinstance(value, dict):
        raise RejectedError("not a JSON object")
    return value


def _why_not_a_number(text: str) -> str:
    short = _short(text)
    if not text:
        return "number missing"
    if text.strip().lower() in _NOT_FINITE:
        return f"not finite: {short}"
    if re.fullmatch(r"-?[0-9.\u00a0\u202f' ]*[0-9],[0-9]+", text):
        return (
            f"locale: decimal comma in {short}; record with LC_ALL=C, a JVM with -Duser.language=en"
        )
    if any(character.isdecimal() and not character.isascii() for character in text):
        return f"locale: digits not ASCII in {short}; run the JVM with -Duser.language=en"
    return f"not a number: {short}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
