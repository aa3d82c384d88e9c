"""Durations, sizes and times as workflow systems write them. ValueError for what cannot be read.

None is what nobody recorded: an empty cell, `-`, `NA`, `Unknown`. It is never zero.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

UNKNOWN = {"", "-", "na", "n/a", "nan", "none", "null", "unknown", "?"}
MOST = 1e12  # s, MiB or epoch s: more than any task takes
MOST_CPUS = 10_000  # of a task; more is damage
MOST_WORDS = 100  # characters of a duration
UNITS_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
BINARY_MIB = {"": 2.0**-20, "K": 2.0**-10, "M": 1.0, "G": 2.0**10, "T": 2.0**20, "P": 2.0**30}
_DECIMAL = r"(?:\d+(?:\.\d*)?|\.\d+)"
_NUMBER = re.compile(rf"[+-]?{_DECIMAL}(?:[eE][+-]?\d+)?", re.ASCII)
_EPOCH = re.compile(r"\d+(\.\d+)?")
_PART = re.compile(rf"({_DECIMAL})\s*(ms|[dhms])\s*")
_CLOCK = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_COMMA = re.compile(r"\d,\d")
_SIZE = re.compile(rf"({_DECIMAL}(?:[eE][+-]?\d+)?)\s*([KMGTP]?)(i?)(B?|bytes?)", re.IGNORECASE)


def known(text: object) -> str | None:
    """The text of a cell; None if nothing was recorded."""
    if text is None:
        return None
    found = str(text).strip()
    return None if found.lower() in UNKNOWN else found


def without_comma(text: str) -> str:
    """The text. ValueError for a decimal comma, which may as well part thousands."""
    if _COMMA.search(text):
        raise ValueError(f"{text[:40]!r} has a comma: write it in a locale with a decimal point")
    return text


def number(value: object, most: float = MOST) -> float | None:
    """A finite number from 0 to `most`."""
    text = known(value)
    if text is None or isinstance(value, bool):
        return None
    found = float(text) if _NUMBER.fullmatch(without_comma(text)) else math.nan
    if not 0 <= found <= most:
        raise ValueError(f"not a number from 0 to {most:g}: {text[:40]!r}")
    return found


def cpus(value: object) -> int | None:
    """Cores that a task reserves; a share of a core counts as one."""
    found = number(value, MOST_CPUS)
    return None if not found else max(1, math.ceil(found))


def words_s(value: object) -> float | None:
    """Seconds of `1h 2m 3.5s` or `223ms`; mere digits are milliseconds, as in raw traces of Nextflow."""
    text = known(value)
    if text is None:
        return None
    if re.fullmatch(r"\d+", text):
        return number(float(text) / 1e3)
    parts = _PART.findall(
        without_comma(text)[:MOST_WORDS]
    )  # a long text without a unit would take hours
    if not parts or len(text) > MOST_WORDS or _PART.sub("", text):
        raise ValueError(f"duration {text[:40]!r}")
    return number(sum(float(amount) * UNITS_S[unit] for amount, unit in parts))


def clock_s(value: object) -> float | None:
    """Seconds of Slurm's `1-02:03:04`, `02:03:04` or `03:04.567`."""
    text = known(value)
    if text is None:
        return None
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError(f"duration {text[:40]!r}")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return number(days * 86400 + hours * 3600 + minutes * 60 + seconds)


def mib(value: object, unit: str | None = "") -> float | None:
    """MiB of `1.5 GB`, `2GiB`, `4000M`, `123456K`; all units are of 1024, as in Nextflow, Cromwell, Slurm and
    Spark. unit: that of a number without one; None: such a number is refused unless it is 0."""
    text = known(value)
    if text is None:
        return None
    match = _SIZE.fullmatch(without_comma(text))
    if match is None:
        raise ValueError(f"size {text[:40]!r}")
    prefix = match[2].upper()
    if not prefix and not match[4]:
        if unit is None and float(match[1]):
            raise ValueError(f"size {text[:40]!r} without a unit")
        prefix = unit or ""
    return number(float(match[1]) * BINARY_MIB[prefix])


def epoch_s(value: object) -> float | None:
    """Seconds since 1970 of an ISO time, of epoch milliseconds or of epoch seconds. A time without a zone
    counts as UTC: only differences within one file are used."""
    text = known(value)
    if text is None:
        return None
    if _EPOCH.fullmatch(text):
        amount = float(text)
        return number(amount / 1e3 if amount > 1e11 else amount)
    found = _moment(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def between_s(start: object, end: object) -> float | None:
    """Seconds between two times. None if one has no zone, because clocks may change between them, or if they
    go back."""
    start_s, end_s = epoch_s(start), epoch_s(end)
    if start_s is None or end_s is None or end_s < start_s or is_local(start) or is_local(end):
        return None
    return end_s - start_s


def is_local(value: object) -> bool:
    """Whether a time is one without a zone."""
    text = known(value)
    return bool(text and not _EPOCH.fullmatch(text) and not _moment(text).tzinfo)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"not an ISO time: {text[:40]!r}") from None
