"""Local times of tools that print no time zone, as epoch seconds.

A name like CET does not identify a zone, and a summer-time change makes an hour occur twice. Such a time is
rejected, never guessed.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from density_study.workloads.base.parsing import RejectedError

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


def epoch_of_local(local: datetime, zone: tzinfo) -> float:
    """Epoch seconds. RejectedError for a time that occurs twice in the zone, or never."""
    both = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    if both[0].utcoffset() != both[1].utcoffset():
        raise RejectedError(f"{local} occurs twice or never in {zone}: clocks change then")
    return both[0].timestamp()
