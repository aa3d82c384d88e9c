"""dool's times as text (`Nov-20 17:44:42`), many at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa

from jobs.byte_lines import Array
from workloads.monitors.dool import DAY_S
from workloads.monitors.dool_header import YEARS_S, Start

TEXT_LENGTH = 15
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY_LENGTH = len("Nov-20 ")
_HOUR, _MINUTE, _SECOND = 7, 10, 13
_COLONS = (9, 12)


def texts_of(cells: pa.FixedSizeBinaryArray) -> Array:
    """The bytes of cells without nulls, a row of `TEXT_LENGTH` each."""
    raw = np.frombuffer(cells.buffers()[1], np.uint8).reshape(-1, TEXT_LENGTH)
    rows: Array = raw[cells.offset : cells.offset + len(cells)]
    return rows


def agree(texts: Array, epoch_s: Array, starts: Sequence[Start], begins: Array) -> Array:
    """Which rows' two times agree, as `DoolReader` asks; not all that do are found.

    texts: bytes, rows of `TEXT_LENGTH`. starts: of the tool, in UTC, each for the rows from its place in
    `begins` on. A text is taken to be of the epoch's own day; where it says another one, or may be of
    another year than the start's, the row is not found.
    """
    at = np.ascontiguousarray(texts.T)
    days = np.floor(np.clip(epoch_s, *YEARS_S) / DAY_S)
    sound, clock_s = _clock(at)
    for begin, end, start in _of_one_day(days, starts, begins):
        sound[begin:end] &= _of_day(at[:_DAY_LENGTH, begin:end], float(days[begin]), start)
        # one that lies before the start would be of the next year
        sound[begin:end] &= clock_s[begin:end] >= _begun_s(start) - (days[begin] + 1) * DAY_S
    text_s = days * DAY_S + clock_s
    apart = epoch_s - text_s
    agreed: Array = sound & (apart >= -0.001) & (apart < 1.001) & (text_s >= YEARS_S[0])
    return agreed


def _clock(at: Array) -> tuple[Array, Array]:
    """Which texts end in a time of day, and its seconds. at: bytes, a row a place of the text."""
    sound = (at[_COLONS[0]] == ord(":")) & (at[_COLONS[1]] == ord(":"))
    parts = []
    for place, most in ((_HOUR, 24), (_MINUTE, 60), (_SECOND, 60)):
        tens, ones = at[place] - ord("0"), at[place + 1] - ord("0")
        part = tens * 10 + ones
        sound &= (tens <= 9) & (ones <= 9) & (part < most)
        parts.append(part.astype(np.int32))
    return sound, (parts[0] * 60 + parts[1]) * 60 + parts[2]


def _of_one_day(
    days: Array, starts: Sequence[Start], begins: Array
) -> Sequence[tuple[int, int, Start]]:
    """Runs of rows of one start and one day: begin, end, start."""
    turns = np.union1d(begins, np.flatnonzero(days[1:] != days[:-1]) + 1)
    owners = np.searchsorted(begins, turns, side="right") - 1
    ends = pairwise([*turns.tolist(), len(days)])
    return [(begin, end, starts[owner]) for (begin, end), owner in zip(ends, owners, strict=True)]


def _of_day(at: Array, day: float, start: Start) -> Array:
    """Which texts begin with that day, if it is of the start's year."""
    date = _date(day)
    if str(date.year) != start.date_text.split()[2]:
        return np.zeros(at.shape[1], bool)
    told = f"{_MONTHS[date.month - 1]}-{date.day:02d} ".encode()
    named: Array = (at == np.frombuffer(told, np.uint8)[:, np.newaxis]).all(axis=0)
    return named


@lru_cache
def _date(day: float) -> datetime:
    return datetime.fromtimestamp(day * DAY_S, UTC)


def _begun_s(start: Start) -> float:
    assert start.epoch_s is not None
    return start.epoch_s
