"""The window of a trial from its files, where the map gives none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from density_study.workloads.base.local_time import UTC_NAMES, epoch_of_local, other_zone, zone_of
from density_study.workloads.base.parsing import RejectedError
from density_study.workloads.base.values import Window
from density_study.workloads.imports.piece import DfsioFacts, Piece, YcsbFacts

# As java.util.Date prints it, or asctime, which names no zone.
_DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} +[0-9]{1,2} [0-9:]{8}) (?:(\S+) )?([0-9]{4})")

Found = tuple[Window, str]
"""The window, and where it was found."""


def window_of_spans(pieces: Sequence[Piece], source: str) -> Found | None:
    """From the first begin to the last end of logs or histories; None unless each has both."""
    begins = [piece.span.since_s for piece in pieces]
    ends = [piece.span.until_s for piece in pieces]
    if not pieces or None in begins or None in ends:
        return None
    window = Window(
        start_epoch_s=min(at for at in begins if at is not None),
        end_epoch_s=max(at for at in ends if at is not None),
    )
    return window, source


def window_of_status(clients: Sequence[YcsbFacts], time_zone: str | None) -> Found | None:
    """From YCSB's status lines: the time of the last one less its elapsed seconds, plus the run time. Exact
    to about a second. None without a time zone, or if a client lacks either."""
    if time_zone is None or not clients:
        return None
    spans = []
    for facts in clients:
        if facts.at is None or facts.run_s is None:
            return None
        try:
            at_s = epoch_of_local(facts.at, zone_of(time_zone))
        except RejectedError:
            return None
        spans.append((at_s - facts.at_elapsed_s, at_s - facts.at_elapsed_s + facts.run_s))
    start_s, end_s = min(start for start, _ in spans), max(end for _, end in spans)
    return Window(start_epoch_s=start_s, end_epoch_s=end_s), "status lines (about 1 s)"


def window_of_result(facts: DfsioFacts, time_zone: str | None) -> Found | None:
    """From TestDFSIO's result: its date less its execution time. Exact to about a second. None for a date in
    another zone than UTC, unless the map names the zone."""
    found = local_end(facts)
    if found is None:
        return None
    local, printed = found
    zone: tzinfo | None = UTC if printed in UTC_NAMES else None
    if zone is None and time_zone is not None:
        zone = zone_of(time_zone)
    if zone is None:
        return None
    try:
        end_s = epoch_of_local(local, zone)
    except RejectedError:
        return None
    window = Window(start_epoch_s=end_s - facts.exec_s, end_epoch_s=end_s)
    return window, "date and time of the result (about 1 s)"


def other_zone_of(facts: DfsioFacts, time_zone: str | None) -> str:
    """In words, that the result is of another zone; empty if nothing shows that."""
    local, printed = local_end(facts) or (datetime.min, "")
    if time_zone is None or not printed or printed in UTC_NAMES:
        return ""
    return other_zone(local, printed, zone_of(time_zone))


def local_end(facts: DfsioFacts) -> tuple[datetime, str] | None:
    """The date of a result, and the name of its zone, empty if none is printed: only UTC's are unambiguous.
    None if the date is not understood."""
    match = _DATE.fullmatch(facts.date_text)
    if match is None:
        return None
    try:
        local = datetime.strptime(f"{match.group(1)} {match.group(3)}", "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return local, match.group(2) or ""


def moment_s(value: float | str, time_zone: str | None) -> float:
    """A time of the map in epoch seconds. ValueError for a local time without a time zone."""
    if isinstance(value, float):
        return value
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is not None:
        return moment.timestamp()
    if time_zone is None:
        raise ValueError(f"{value} has no time zone: append Z or +01:00, or give time_zone")
    return epoch_of_local(moment, zone_of(time_zone))
