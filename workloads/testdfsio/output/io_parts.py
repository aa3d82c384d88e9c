"""The reduce output of a TestDFSIO job, `io_<mode>/part-00000`: sums over the streams.

Source: `TestDFSIO.IOStatMapper.collectStats` emits, for each stream, `l:tasks` 1, `l:size` in bytes,
`l:time` in milliseconds, `f:rate` 1000 x MiB/s and `f:sqrate` 1000 x (MiB/s)^2; `AccumulatingReducer`
sums them, floats in single precision.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from density_study.cluster.model.host import MIB
from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal, whole

_LINE = re.compile(r"([fls]:[a-z]+)\t(.*)")
_KEYS = ("f:rate", "f:sqrate", "l:size", "l:tasks", "l:time")


@dataclass(frozen=True)
class IoTotals:
    """One part file. `time_ms` is the sum of the streams' times; `rate`, `sqrate` as the job sums them."""

    size_bytes: int
    tasks: int
    time_ms: int
    rate: float
    sqrate: float

    @property
    def throughput_per_stream_mib_s(self) -> float:
        """Bytes over the sum of the streams' times: what the tool prints as Throughput (method 13)."""
        return self.size_bytes / MIB / (self.time_ms / 1000)


def parse_io_part(data: bytes | str, file: str) -> Parsed[IoTotals]:
    """One row, or none if any of the five sums is missing, duplicated or not trusted.

    ParseError: no line is one of the five sums.
    """
    ledger = Ledger(data, file)
    found: dict[str, list[Line]] = {key: [] for key in _KEYS}
    for line in ledger.lines:
        match = _LINE.fullmatch(line.text)
        if match and match.group(1) in found:
            found[match.group(1)].append(line)
        elif not line.text.strip():
            ledger.skip(line)
    lines = [line for key in _KEYS for line in found[key]]
    if not lines:
        raise ledger.refuse("no reduce output of TestDFSIO: no line 'l:size', 'l:time', ...")
    try:
        row = _row({key: _only(key, lines) for key, lines in found.items()})
    except RejectedError as error:
        ledger.quarantine(f"sums not trusted: {error}", *lines)
        return ledger.close(())
    ledger.parse(*lines)
    return ledger.close((row,))


def _row(texts: dict[str, str]) -> IoTotals:
    tasks, time_ms = whole(texts["l:tasks"]), whole(texts["l:time"])
    if tasks == 0:
        raise RejectedError("no tasks")
    if time_ms == 0 or "Infinity" in texts["f:rate"] or "NaN" in texts["f:rate"]:
        raise RejectedError("zero time")
    rate, sqrate = decimal(texts["f:rate"]), decimal(texts["f:sqrate"])
    return IoTotals(whole(texts["l:size"]), tasks, time_ms, rate, sqrate)


def _only(key: str, lines: list[Line]) -> str:
    if len(lines) != 1:
        raise RejectedError(f"{key} {'is missing' if not lines else 'occurs twice'}")
    if not lines[0].ended:
        raise RejectedError(f"{key} is cut off: no newline ends it")
    return lines[0].text.partition("\t")[2]
