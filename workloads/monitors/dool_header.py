"""Reads the headers of dstat 0.7.x, dool 1.x and pcp-dstat files: tool, units and columns.

All three tools write a banner, author, host, command line, a row of sections, a row of columns, then data.
Re-using a file appends blank lines and the same headers again, without banner and author.

Units differ, and files do not name them: dool 1.3.0 and later write disk and network in *bits* unless started
with `--bytes` or `--dstat`; pcp-dstat writes disk and memory in KiB. Sources: `showcsv` in dool's git
history (commit ebfc2ff), pcp-dstat's plugin files, and runs of dool 1.3.8 against a known write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property

from density_study.workloads.base.local_time import UTC_NAMES, epoch_of_local, other_zone
from density_study.workloads.base.parsing import YEARS_S, RejectedError

Key = tuple[str, str]  # section, column

_BANNER = re.compile(r'"(dstat|dool|pcp-dstat) ([0-9][^ "]*) CSV output"', re.IGNORECASE)
_CMDLINE = re.compile(r'"Cmdline:","(.*)",,,,"Date:","([^"]*)"')
_DATE = re.compile(r"([0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}) (\S+)")
_UTC = UTC_NAMES - {"GMT"}
_FORM = "%d %b %Y %H:%M:%S"  # of its first group
# dool writes the month first, dstat the day.
_TIMES = (
    (re.compile(r"[A-Z][a-z]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"), "%b-%d %H:%M:%S"),
    (re.compile(r"[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"), "%d-%m %H:%M:%S"),
)
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")  # by DSTAT_TIMEFMT
_TOTAL_CPU = ("total cpu usage", "total usage")  # in dstat and dool, and in pcp-dstat
DAY_S = 86400.0
_LEAP_YEAR = 2004
_BITS_SINCE = (1, 3)


@dataclass(frozen=True)
class Banner:
    """The tool that wrote the file: dstat, dool or pcp-dstat."""

    tool: str
    version: tuple[int, ...]


def read_banner(text: str) -> Banner | None:
    match = _BANNER.fullmatch(text)
    if match is None:
        return None
    numbers = re.findall(r"[0-9]{1,6}", match.group(2))
    return Banner(match.group(1).lower(), tuple(map(int, numbers)))


@dataclass(frozen=True)
class Start:
    """One start of the tool: its arguments, and its local time with the zone's name.

    given_zone: the zone of local times, if somebody knows it: names of zones are ambiguous, except UTC.
    """

    arguments: tuple[str, ...]
    date_text: str
    given_zone: tzinfo | None = None

    @property
    def is_dated(self) -> bool:
        """Whether the date can be read; in another locale it cannot."""
        return _DATE.fullmatch(self.date_text) is not None

    @cached_property
    def zone(self) -> tzinfo | None:
        """The time zone of the file's times; None if it is unknown. GMT is London's only in winter."""
        match = _DATE.fullmatch(self.date_text)
        return UTC if match and match.group(2) in _UTC else self.given_zone

    @property
    def contradiction(self) -> str:
        """In words, that the given zone is not that of the file; empty if nothing shows that."""
        match = _DATE.fullmatch(self.date_text)
        if match is None or self.given_zone is None or match.group(2) in _UTC:
            return ""
        try:
            local = datetime.strptime(match.group(1), _FORM)
        except ValueError:
            return ""
        return other_zone(local, match.group(2), self.given_zone)

    @cached_property  # every row needs it
    def epoch_s(self) -> float | None:
        """The date in epoch seconds; None if its time zone is unknown."""
        match = _DATE.fullmatch(self.date_text)
        if match is None or self.zone is None:
            return None
        return _epoch_s(match.group(1), _FORM, self.zone)


def read_start(text: str, given_zone: tzinfo | None = None) -> Start | None:
    match = _CMDLINE.fullmatch(text)
    return Start(tuple(match.group(1).split()), match.group(2), given_zone) if match else None


def require_sections_of(banner: Banner | None, sections: Sequence[str]) -> None:
    """RejectedError if banner and sections are of different tools, so that the units are unknown.

    pcp-dstat calls its CPU section "total usage", dstat and dool "total cpu usage".
    """
    is_pcp = banner is not None and banner.tool == "pcp-dstat"
    foreign = _TOTAL_CPU[not is_pcp]
    if banner is not None and foreign in sections:
        raise RejectedError(
            f"the first line says {banner.tool}, and the section {foreign!r} is another tool's: units unknown"
        )


@dataclass(frozen=True)
class Units:
    """Factors that convert a file's values to bytes."""

    disk: float = 1.0
    net: float = 1.0
    memory: float = 1.0


def units(banner: Banner | None, start: Start | None) -> Units:
    """RejectedError if the units are unknown."""
    if banner is None:
        raise RejectedError("no banner line before this row: tool and units unknown")
    if banner.tool == "pcp-dstat":
        return Units(disk=1024.0, memory=1024.0)
    if banner.tool == "dstat" or banner.version < _BITS_SINCE:
        return Units()
    if start is None:
        raise RejectedError("no Cmdline before this row: bits or bytes unknown")
    return Units(disk=0.125, net=0.125) if _in_bits(start.arguments) else Units()


def _in_bits(arguments: Sequence[str]) -> bool:
    """Interprets dool's options as dool does: bits by default, and the last option wins."""
    bits = True
    for argument in arguments:
        if argument.startswith("--bi"):
            bits = True
        elif argument.startswith("--by") or argument == "--dstat":
            bits = False
    return bits


def columns(sections: Sequence[str], names: Sequence[str]) -> tuple[Key, ...]:
    """(section, column) of each cell: the name of a section is above its first column only.

    With several CPUs or disks, column names repeat the section: "cpu0 usage:usr". RejectedError if the two
    rows do not match.
    """
    if len(sections) != len(names):
        raise RejectedError(f"{len(names)} columns under {len(sections)} cells of sections")
    keys: list[Key] = []
    section = ""
    for cell, name in zip(sections, names, strict=True):
        section = cell or section
        prefix, colon, bare = name.rpartition(":")
        if not section or not bare or (colon and prefix != section):
            raise RejectedError(f"column {name!r} does not belong under section {section!r}")
        keys.append((section, bare))
    return tuple(keys)


def epoch_of(time_text: str, start: Start | None) -> float | None:
    """Epoch seconds of a time, mostly without year (dool "Nov-20 17:13:32", dstat "20-11 17:15:29").

    None if the time zone is unknown. The year is that of the tool's start, or the next if the time would lie
    before the start. RejectedError if the text is not such a time.
    """
    if has_year(time_text):
        known = start.zone if start else None
        epoch_s = _epoch_s(time_text, "%Y-%m-%d %H:%M:%S", known or UTC)
        if epoch_s is None:
            raise _no_such(time_text)
        return epoch_s if known else None
    form = next((form for pattern, form in _TIMES if pattern.fullmatch(time_text)), None)
    if form is None:
        raise RejectedError(
            f"not a time: {time_text[:40]!r}; record with LC_ALL=C, without DSTAT_TIMEFMT or with "
            "DSTAT_TIMEFMT='%Y-%m-%d %H:%M:%S'"
        )
    begun_s = start.epoch_s if start else None
    zone = start.zone if start is not None and begun_s is not None else None
    year = int(start.date_text.split()[2]) if start is not None and zone else _LEAP_YEAR
    for candidate in (year, year + 1):
        epoch_s = _epoch_s(f"{candidate} {time_text}", f"%Y {form}", zone or UTC)
        if epoch_s is not None and (begun_s is None or epoch_s >= begun_s - DAY_S):
            return epoch_s if zone else None
    raise _no_such(time_text)


def has_year(time_text: str) -> bool:
    """Whether the time is one of DSTAT_TIMEFMT in ISO form, which does not depend on the tool's start."""
    return _ISO.fullmatch(time_text) is not None


def _no_such(time_text: str) -> RejectedError:
    return RejectedError(f"no such time: {time_text[:40]!r}")


def _epoch_s(text: str, form: str, zone: tzinfo) -> float | None:
    """None if the date does not exist or is in another century, which indicates a damaged year.
    RejectedError for a time that its zone has twice or never."""
    try:
        local = datetime.strptime(text, form)
    except ValueError:
        return None
    epoch_s = epoch_of_local(local, zone)
    return epoch_s if YEARS_S[0] <= epoch_s <= YEARS_S[1] else None
