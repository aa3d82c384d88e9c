"""sar's samples as `sadf -d` writes them: the parser for its CSV with semicolons.

    # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
    node1;1;2026-11-23 09:16:44 UTC;-1;91.96;0.00;8.04;0.00;0.00;0.00

`sadf -d FILE -- -u -b -r` writes one section after the other, each with a header. Rows of several sections at
one time are one sample; other sections are skipped. Times are in UTC, local (`-T`) or epoch seconds (`-U`).
Source: sysstat 12.6.1 and 12.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType
from typing import Any

from density_study.workloads.base.local_time import OWN_ZONE, epoch_of_local, other_zone, zone_of
from density_study.workloads.base.parsing import (
    YEARS_S,
    Ledger,
    Line,
    Parsed,
    RejectedError,
    decimal,
    whole,
)
from density_study.workloads.monitors.dool_cells import CPU_SUM_TOLERANCE, HostSample

HEADER = "# hostname;interval;timestamp"
NO_HEADER = f"no sar file in CSV: no line '{HEADER};...'"
ALL_CPUS = ("-1", "all")
# sysstat 12.7.1 and later also name the zone of local times: EST, CEST, +0530. Such names are ambiguous.
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?: (UTC)| ([A-Z]{1,5}|[+-][0-9]{2,4}))?"
)
RESTART = re.compile(r"[^;#]*;-?[0-9]+;[^;]*;LINUX-RESTART\b.*")
_ON_ONE_LINE = "[...]"
_MARK = re.compile(r"(?:LINUX-RESTART|COM)\b.*")
_BLOCK_BYTES = 512  # sar's "blocks" are sectors
_KIB = 1024

# The column that identifies a section, and for each field of HostSample: columns (added) and factor.
_SECTIONS: Mapping[str, tuple[str, Mapping[str, tuple[tuple[str, ...], float]]]] = MappingProxyType(
    {
        "CPU": (
            "%idle",
            {
                "cpu_user": (("%user", "%usr", "%nice", "%guest", "%gnice"), 1.0),
                "cpu_system": (("%system", "%sys"), 1.0),
                "cpu_idle": (("%idle",), 1.0),
                "cpu_iowait": (("%iowait",), 1.0),
                "cpu_steal": (("%steal",), 1.0),
                "cpu_irq": (("%irq", "%soft"), 1.0),
            },
        ),
        "disk": (
            "bread/s",
            {
                "disk_read_bytes_s": (("bread/s",), _BLOCK_BYTES),
                "disk_write_bytes_s": (("bwrtn/s",), _BLOCK_BYTES),
                "disk_read_ops_s": (("rtps",), 1.0),
                "disk_write_ops_s": (("wtps",), 1.0),
            },
        ),
        "memory": (
            "kbmemfree",
            {
                "memory_used_bytes": (("kbmemused",), _KIB),
                "memory_free_bytes": (("kbmemfree",), _KIB),
                "memory_buffered_bytes": (("kbbuffers",), _KIB),
                "memory_cached_bytes": (("kbcached",), _KIB),
                "memory_available_bytes": (("kbavail",), _KIB),
            },
        ),
    }
)


def parse_sar(data: bytes | str, file: str, time_zone: str = "") -> Parsed[HostSample]:
    """Rows in the order of time between restarts. A time without a row in every section is quarantined.

    time_zone: of local times. ParseError: no header of `sadf -d`.
    """
    ledger = Ledger(data, file)
    if not any(line.text.startswith(HEADER) for line in ledger.lines):
        raise ledger.refuse(NO_HEADER)
    reader = _Reader(zone_of(time_zone) if time_zone else None)
    for line in ledger.lines:
        try:
            if not reader.read(line):
                ledger.skip(line)
        except RejectedError as error:
            ledger.quarantine(str(error), line)
    return ledger.close(_rows(ledger, reader.spans))


@dataclass
class _Draft:
    """What the sections report for one time."""

    epoch_s: float | None
    time_text: str
    lines: list[Line] = field(default_factory=list)
    sections: set[str] = field(default_factory=set)
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Span:
    """The samples between two restarts of the machine, by their time as printed."""

    sections: set[str] = field(default_factory=set)
    drafts: dict[str, _Draft] = field(default_factory=dict)


class _Reader:
    """State of the parser: the header above the current line, and the samples so far."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self._columns: Sequence[str] | None = None
        self._section: str | None = None
        self._last = 0.0
        self.spans = [_Span()]

    def read(self, line: Line) -> bool:
        """Whether the line became a part of a sample. False: a known line that has none."""
        if not line.text.strip():
            return False
        line.require_end()
        if line.text.startswith("#"):
            self._header(line.text)
            return False
        cells = line.text.split(";")
        if len(cells) == 4 and _MARK.fullmatch(cells[3]):
            if cells[3].startswith("LINUX"):
                self._columns = self._section = None
                self.spans.append(_Span())
            return False
        return self._row(line, cells)

    def _header(self, text: str) -> None:
        self._columns, self._section, self._last = None, None, 0.0
        if not text.startswith(HEADER):
            raise RejectedError("not a header of sadf -d")
        if _ON_ONE_LINE in text:
            raise RejectedError(
                "written with sadf -h, which puts all on one line: write it without -h"
            )
        columns = text.removeprefix("# ").split(";")
        if len(set(columns)) != len(columns):
            raise RejectedError("two columns have the same name")
        self._columns = columns
        known = (name for name, (column, _) in _SECTIONS.items() if column in columns)
        self._section = next(known, None)
        if self._section is not None:
            self.spans[-1].sections.add(self._section)

    def _row(self, line: Line, texts: Sequence[str]) -> bool:
        if self._columns is None:
            raise RejectedError("no header above this row")
        if self._section is None:
            return False
        if len(texts) != len(self._columns):
            raise RejectedError(f"{len(texts)} cells under {len(self._columns)} columns")
        cells = dict(zip(self._columns, texts, strict=True))
        if cells.get("CPU", "-1") not in ALL_CPUS:
            return False
        if whole(cells["interval"]) < 1:
            raise RejectedError("an interval of less than a second")
        text = cells["timestamp"]
        at_s, order = self._time(text)
        if order <= self._last:
            raise RejectedError("time goes back, or occurs twice")
        values = _values(self._section, cells)
        self._last = order
        draft = self.spans[-1].drafts.setdefault(text, _Draft(at_s, text))
        if self._section in draft.sections:
            raise RejectedError(f"second {self._section} row of {text}")
        draft.lines.append(line)
        draft.sections.add(self._section)
        draft.values |= values
        return True

    def _time(self, text: str) -> tuple[float | None, float]:
        """Epoch seconds (None: local time of an unknown zone), and a number that grows with time."""
        match = _TIME.fullmatch(text)
        if match is None:
            at_s: float | None = decimal(text)
            order = decimal(text)
        else:
            try:
                local = datetime.fromisoformat(match.group(1))
            except ValueError:
                raise RejectedError(f"no such time: {text[:40]!r}") from None
            zone, printed = UTC if match.group(2) else self._zone, match.group(3)
            if zone and printed and (why := other_zone(local, printed, zone)):
                raise RejectedError(f"{why}: {OWN_ZONE}")
            at_s = None if zone is None else epoch_of_local(local, zone)
            order = local.replace(tzinfo=UTC).timestamp() if at_s is None else at_s
        if not YEARS_S[0] <= order <= YEARS_S[1]:
            raise RejectedError(f"time {text[:40]} is not of this century")
        return at_s, order


def _values(section: str, cells: Mapping[str, str]) -> dict[str, float | None]:
    """By the fields of HostSample; None for a column that this version of sar does not print."""
    found: dict[str, float | None] = {}
    for name, (columns, factor) in _SECTIONS[section][1].items():
        parts = [decimal(cells[column]) * factor for column in columns if column in cells]
        found[name] = sum(parts) if parts else None
    if section == "CPU":
        total = sum(share for share in found.values() if share is not None)
        if abs(total - 100) > CPU_SUM_TOLERANCE:
            raise RejectedError(f"CPU shares add up to {total:.3f}, not to 100")
    return found


def _rows(ledger: Ledger, spans: Sequence[_Span]) -> Iterator[HostSample]:
    for span in spans:
        for draft in sorted(span.drafts.values(), key=lambda draft: draft.lines[0].number):
            if missing := sorted(span.sections - draft.sections):
                ledger.quarantine(f"no {missing[0]} row at this time", *draft.lines)
                continue
            ledger.parse(*draft.lines)
            yield HostSample(
                line=draft.lines[0].number,
                epoch_s=draft.epoch_s,
                time_text=draft.time_text,
                since_boot=False,
                **draft.values,
            )
