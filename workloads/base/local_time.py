"""Local times of tools that print no time zone, as epoch seconds.

A name like CET does not identify a zone, and a summer-time change makes an hour occur twice. Such a time is
rejected, never guessed.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from density_study.workloads.base.parsing import RejectedError

OWN_ZONE = "give the file its own time_zone"
UTC_NAMES = frozenset({"UTC", "GMT", "Z"})


@cache
def zone_of(name: str) -> tzinfo:
    """The time zone `Europe/Berlin` or `UTC`. ValueError for a name that the IANA database does not have."""
    if name in UTC_NAMES:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name[:60]!r} is not a time zone; write an IANA name such as Europe/Berlin, or UTC"
        ) from None


def other_zone(local: datetime, printed: str, zone: tzinfo) -> str:
    """In words, that a tool which printed this name or offset with a local time was in another zone. Empty if
    nothing shows that: some zones have numbers for names."""
    shown = "+0000" if printed in UTC_NAMES else printed
    is_offset = shown.startswith(("+", "-"))
    both = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    own = [f"{one:%z}" if is_offset else one.tzname() or "" for one in both]
    shown = shown.ljust(5, "0") if is_offset else shown
    if shown in own or not (is_offset or all(map(str.isalpha, (shown, *own)))):
        return ""
    return f"{local} is printed as {printed}, and time_zone has {own[0]} then"


def epoch_of_local(local: datetime, zone: tzinfo) -> float:
    """Epoch seconds. RejectedError for a time that occurs twice in the zone, or never."""
    both = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    if both[0].utcoffset() != both[1].utcoffset():
        raise RejectedError(f"{local} occurs twice or never in {zone}: clocks change then")
    return both[0].timestamp()
