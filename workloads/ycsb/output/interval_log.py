"""Interval logs a YCSB client writes with `hdrhistogram.fileoutput`: `<prefix><OP>.hdr`.

Source: `OneMeasurementHdrHistogram` of YCSB 0.17.0, `HistogramLogWriter` of HdrHistogram 2.2.2. Values
are microseconds. An interval starts at the header's StartTime plus its own StartTimestamp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal
from density_study.workloads.ycsb.output.histogram import Histogram, decode
from density_study.workloads.ycsb.output.measurement import Measurement, measurement

_NAME = re.compile(r"#\[Logging for: (.+)\]")
_START = re.compile(r"#\[StartTime: ([0-9.]+) \(seconds since epoch\), .*\]")
_BASE = re.compile(r"#\[BaseTime: ([0-9.]+) \(seconds since epoch\)\]")
_VERSION = re.compile(r"#\[Histogram log format version 1\.[0-3]\]")
_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
_FILE = re.compile(
    r"(?:^|[-_./\\])((?:Intended-)?(?:Hdr)?"
    r"(?:READ-MODIFY-WRITE|READ|UPDATE|INSERT|SCAN|DELETE|CLEANUP|VERIFY|THINK)(?:-[A-Z_]+)?)\.hdr$"
)
_INTERVAL = re.compile(r"(?:Tag=([^,]+),)?([^,]+),([^,]+),([^,]+),([^,]+)")
_US_PER_S = 1_000_000  # Interval_Max is printed in units of a million
_ROUNDING = 0.00051  # to three decimals
_OVERLAP_S = 0.0025  # start and length are rounded, each to a millisecond
_ABSOLUTE_S = 365 * 24 * 3600.0


@dataclass(frozen=True)
class IntervalRow:
    """One interval. `payload` is its histogram's text; `histogram.decode` gives its counts.

    name: READ, Intended-READ, READ-FAILED, ... start_epoch_s: by the client's clock. max_us: the
    highest latency, to its bucket's upper end. operations: in the interval.
    """

    line: int
    name: str
    tag: str | None
    start_epoch_s: float
    length_s: float
    max_us: int
    operations: int
    payload: str

    @property
    def measurement(self) -> Measurement:
        return measurement(self.name)

    @property
    def intended(self) -> bool:
        return self.measurement.intended

    def histogram(self) -> Histogram:
        return decode(self.payload)


def name_of(file: str) -> str | None:
    """The measurement in a log's file name, Intended-READ in `raw/ycsb-1-Intended-READ.hdr`; or None."""
    match = _FILE.search(file)
    return match.group(1) if match else None


class Decoded(Protocol):
    """What an interval needs of its histogram."""

    @property
    def total(self) -> int: ...

    @property
    def max_us(self) -> int: ...


# From a payload to its histogram. RejectedError with the reason if it cannot be decoded.
Decode = Callable[[str], Decoded]


def parse_hdr(data: bytes | str, file: str, decode: Decode = decode) -> Parsed[IntervalRow]:
    """Rows in the file's order, each with a payload that decodes and agrees with its Interval_Max.

    ParseError if the file is not an interval log of a known version.
    """
    ledger = Ledger(data, file)
    if not any(_is_header(line.text) for line in ledger.lines):
        raise ledger.refuse("no HdrHistogram interval log: no header line")
    return ledger.close(ledger.read(_Log(ledger, decode).read))


def _is_header(text: str) -> bool:
    return text == _LEGEND or any(h.fullmatch(text) for h in (_NAME, _START, _BASE, _VERSION))


class _Log:
    """State of the parser: what the header lines above contain, and where the last interval ended."""

    def __init__(self, ledger: Ledger, decode: Decode) -> None:
        self._ledger = ledger
        self._decode = decode
        self._file_name = name_of(ledger.file)
        self._name = self._file_name
        self._start_s: float | None = None
        self._base_s: float | None = None
        self._ends_s: dict[str | None, float] = {}

    def read(self, line: Line) -> IntervalRow | None:
        """A row, or None for a known line without data."""
        if line.text.startswith("#"):
            self._header(line)
            return None
        if line.text == _LEGEND or not line.text.strip():
            return None
        match = _INTERVAL.fullmatch(line.text)
        if match is None:
            raise RejectedError("not an interval: four fields expected")
        return self._interval(line.number, *match.groups())

    def _header(self, line: Line) -> None:
        """A comment. If it lacks the time that it should contain, the time is unknown."""
        text = line.text
        if text.startswith("#[Histogram log format") and not _VERSION.fullmatch(text):
            raise self._ledger.refuse(
                f"unknown version of the log format: {text[:80]!r}", line.number
            )
        if text.startswith("#[Logging for:"):
            match = _NAME.fullmatch(text)
            self._name = match.group(1) if match else None
            self._start_s = self._base_s = None  # another log begins
        elif text.startswith("#[StartTime:"):
            self._start_s = None
            self._start_s = _time(_START.fullmatch(text))
        elif text.startswith("#[BaseTime:"):
            self._base_s = None
            self._base_s = _time(_BASE.fullmatch(text))

    def _interval(
        self, line: int, tag: str | None, start: str, length: str, most: str, payload: str
    ) -> IntervalRow:
        start_s, length_s = self._absolute(decimal(start)), decimal(length)
        if self._name is None or self._file_name not in (None, self._name):
            raise RejectedError(f"measurement unknown: header {self._name}, file {self._file_name}")
        if start_s < self._ends_s.get(tag, 0.0) - _OVERLAP_S:
            raise RejectedError("interval begins before the last one ended")
        histogram = self._decode(payload)
        if abs(histogram.max_us / _US_PER_S - decimal(most)) > _ROUNDING:
            raise RejectedError(f"Interval_Max {most} is not the histogram's {histogram.max_us} us")
        self._ends_s[tag] = start_s + length_s
        return IntervalRow(
            line=line,
            name=self._name,
            tag=tag,
            start_epoch_s=round(start_s, 3),
            length_s=length_s,
            max_us=histogram.max_us,
            operations=histogram.total,
            payload=payload,
        )

    def _absolute(self, stamp_s: float) -> float:
        """Epoch seconds, as HistogramLogReader reads stamps: they count from BaseTime; without one, from
        StartTime, unless they are so large that they are absolute themselves."""
        if self._base_s is not None:
            return self._base_s + stamp_s
        if self._start_s is None:
            raise RejectedError("no StartTime before this interval: its time is unknown")
        return stamp_s if stamp_s >= self._start_s - _ABSOLUTE_S else self._start_s + stamp_s


def _time(match: re.Match[str] | None) -> float:
    if match is None:
        raise RejectedError("header without a time")
    return decimal(match.group(1))
