"""The device `slowlog`: calls that HBase's RegionServers found too slow, as their logs say.

Its file is one of `events`; a text is the JSON of one such line. What counts as slow is HBase's
`hbase.ipc.warn.response.time`, 10 s unless the study sets it (`factors.configuration`).
"""

from __future__ import annotations

import re

from density_study.workloads.base.parsing import YEARS_S, Parsed, RejectedError, json_object, whole
from density_study.workloads.monitors.daemons.events import Event, EventRow, parse_events

NAME = "slowlog"
KIND = "slow call"
ROW = ", row "
_MARK = re.compile(r"\(response[^)]{0,20}TooSlow\): (\{.*)")
_TABLE = re.compile(r"region= ?([^,\s]{1,200}),")
_KEY = re.compile(r"\brow(?: key)? ?= ?([^,\s\]}]{1,100})")


def parse_slow_log(data: bytes | str, file: str) -> Parsed[EventRow]:
    """ParseError if the file has no title of format 1."""
    return parse_events(data, file, NAME, _event_of)


def json_of(line: str) -> str:
    """The part of a log's line that tells of a slow call; empty for other lines."""
    match = _MARK.search(line)
    return match.group(1) if match else ""


def _event_of(_daemon: str, _epoch_s: float, text: str) -> Event:
    call = json_object(text)
    begun_ms, took_ms = (
        whole(str(call.get(key, ""))) for key in ("starttimems", "processingtimems")
    )
    end_s = (begun_ms + took_ms) / 1000
    if not YEARS_S[0] <= end_s <= YEARS_S[1]:
        raise RejectedError("a slow call without a time")
    return Event(KIND, _words(call), end_s, float(took_ms))


def _words(call: dict[str, object]) -> str:
    """Scan of usertable from 10.0.0.7, row user17: without what differs from call to call, but for the
    row."""
    method = str(call.get("method", ""))
    if not re.fullmatch(r"\w{1,60}", method):
        raise RejectedError("a slow call without a method")
    about = str(call.get("param", ""))
    table, key = _TABLE.search(about), _KEY.search(about)
    host = str(call.get("client", "")).rpartition(":")[0]
    return (
        method
        + (f" of {table.group(1)}" if table else "")
        + (f" from {host}" if re.fullmatch(r"[\w.:%-]{1,100}", host) else "")
        + (f"{ROW}{key.group(1)}" if key else "")
    )
