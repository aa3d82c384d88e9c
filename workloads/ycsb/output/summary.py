"""The summary a YCSB client prints at its end, by the text exporter or by one of the JSON exporters.

Source: `Client.exportMeasurements` of YCSB 0.17.0; older files have `(ms)` and `Return=0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from density_study.workloads.base.parsing import Ledger, Parsed, RejectedError, decimal, whole
from density_study.workloads.ycsb.output.entries import Entry, entries
from density_study.workloads.ycsb.output.measurement import (
    NOT_OF_USERS,
    READ_MODIFY_WRITE,
    Measurement,
    measurement,
)

_UNIT = re.compile(r"(.+?)\(([^()]+)\)")
_OVERALL = {"RunTime": "ms", "Throughput": "ops/sec"}
SERIES = re.compile(r">?[0-9]+")
# What Java prints where nothing was measured: the mean of no values, and the least of none (Long.MAX_VALUE).
_NO_VALUE = frozenset(
    {"NaN", "9223372036854775807", "9.223372036854775807E18", "9.223372036854776E18"}
)
_JAVA_DOUBLE = re.compile(r"[0-9]+\.0|[0-9]\.[0-9]+E[0-9]{1,2}")
RETURN = "Return="
GC_TIME, GC_PERCENT, GC_MEASURE = "TOTAL_GC_TIME", "TOTAL_GC_TIME_%", "Time"
"""Names, in ms and as a share of the run, and measure of the time in which the client's JVM collected
garbage."""
_BESIDE = "_Cycles"
"""Ends the names of ZGC's and Shenandoah's time in which the JVM worked on: `TOTAL_GC_TIME_ZGC_Cycles`."""
COUNTS = ("Operations", "Total Operations")
"""Measures that count operations that succeeded; the second is that of measurement type `raw`."""
SUCCESSES = frozenset({"OK", "BATCHED_OK", "0"})  # 0: releases before 0.2 returned numbers


@dataclass(frozen=True)
class SummaryRow:
    """One number of the summary. `line` is that of the value.

    name: OVERALL, READ, Intended-READ, INSERT-FAILED, TOTAL_GCs, ...
    measure: without its unit: RunTime, Throughput, Operations, 99thPercentileLatency, Return=OK.
    unit: count, ms, us, ops/sec, %, MBs, ...; None for a printed series, whose measure is itself a
    number: a histogram's bucket or a time series' offset in ms, by the client's measurement type.
    """

    line: int
    name: str
    measure: str
    value: float
    unit: str | None

    @property
    def measurement(self) -> Measurement:
        return measurement(self.name)


@dataclass(frozen=True)
class Overall:
    """The client's own run time and rate. The rate counts failures too (method 9)."""

    runtime_ms: float
    throughput_ops_s: float


@dataclass(frozen=True)
class OperationCount:
    """One kind of operation: all attempts by how they returned; `ok` + `failed` is their number."""

    operation: str
    returns: Mapping[str, int]

    @property
    def ok(self) -> int:
        return sum(count for status, count in self.returns.items() if status in SUCCESSES)

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.returns.items() if status not in SUCCESSES)


def parse_summary(data: bytes | str, file: str) -> Parsed[SummaryRow]:
    """Rows in the file's order. A measure that occurs again is quarantined: two runs in one file.

    A latency of no operations has no row. A repeated point of a time series, as some releases print it,
    has none either: no number comes from series. ParseError if no line belongs to a summary.
    """
    ledger = Ledger(data, file)
    rows: dict[tuple[str, str], SummaryRow] = {}
    for entry in (found := list(entries(ledger))):
        try:
            if _is_of_none(entry, rows):
                ledger.skip(*entry.lines)
                continue
            row = _row(entry)
            if (row.name, row.measure) in rows and row.unit is None:
                ledger.skip(*entry.lines)
                continue
            if (row.name, row.measure) in rows:
                raise RejectedError(
                    f"{row.name} has {row.measure!r} twice; the file may contain two runs"
                )
        except RejectedError as error:
            ledger.quarantine(str(error), *entry.lines)
            continue
        rows[row.name, row.measure] = row
        ledger.parse(*entry.lines)
    if not found:
        raise ledger.refuse("no YCSB summary: no line '[OVERALL], RunTime(ms), ...'")
    return ledger.close(rows.values())


def _is_of_none(entry: Entry, rows: Mapping[tuple[str, str], SummaryRow]) -> bool:
    """Whether it is a latency of no operations: their count, which is above it, is zero."""
    counted = [row for measure in COUNTS if (row := rows.get((entry.name, measure))) is not None]
    match = _UNIT.fullmatch(entry.measure)
    unit = match.group(2) if match else _unit_of(entry.measure)
    none = bool(counted) and all(row.value == 0 for row in counted)
    return none and unit in ("us", "ms") and entry.value in _NO_VALUE


def _row(entry: Entry) -> SummaryRow:
    match = _UNIT.fullmatch(entry.measure)
    measure, unit = match.groups() if match else (entry.measure, _unit_of(entry.measure))
    if entry.name == "OVERALL" and unit != (wanted := _OVERALL.get(measure, unit)):
        raise RejectedError(f"{measure} in {unit}, not in {wanted}")
    value = _count(entry) if unit == "count" else decimal(entry.value)
    return SummaryRow(entry.lines[-1].number, entry.name, measure, value, unit)


def _count(entry: Entry) -> float:
    """Older releases, 0.12 among them, print all counts but Return as Java prints a double: 990.0, 1.99E7."""
    text = entry.value
    if _JAVA_DOUBLE.fullmatch(text) and not entry.measure.startswith(RETURN):
        value = decimal(text)
        if value.is_integer():
            return value
    return float(whole(text))


def _unit_of(measure: str) -> str | None:
    """The unit of a measure that is printed without one."""
    if measure.startswith(RETURN) or measure in (*COUNTS, "Count"):
        return "count"
    if SERIES.fullmatch(measure):
        return None
    if measure in ("MBs", "Load"):
        return measure
    return "us"  # the raw measurement's Average, Min, Max, p99


def overall(rows: Iterable[SummaryRow]) -> Overall | None:
    """The client's run time and rate; None if either is missing."""
    found = {row.measure: row.value for row in rows if row.name == "OVERALL"}
    if "RunTime" not in found or "Throughput" not in found:
        return None
    return Overall(found["RunTime"], found["Throughput"])


def stood_still(printed: Mapping[str, float], name: str = GC_TIME) -> float | None:
    """How long the JVM stood still to collect garbage. `printed`: values of GC_MEASURE by their names;
    `name`: GC_TIME or GC_PERCENT. None: not printed."""
    if name not in printed:
        return None
    parts = (one for one in printed if one.startswith(f"{name}_") and one.endswith(_BESIDE))
    return printed[name] - sum(printed[one] for one in parts if ("%" in one) == ("%" in name))


def operation_counts(rows: Iterable[SummaryRow]) -> dict[str, OperationCount]:
    """By operation (READ, INSERT, ...), of those with Return lines: CLEANUP and Intended- have none."""
    returns: dict[str, dict[str, int]] = {}
    for row in rows:
        name = row.measurement
        if name.intended or name.outcome or name.instrument not in (None, "hdr"):
            continue
        if row.measure.startswith(RETURN):
            status = row.measure.removeprefix(RETURN)
            returns.setdefault(name.operation, {})[status] = int(row.value)
    return {operation: OperationCount(operation, counts) for operation, counts in returns.items()}


def user_operations(rows: Iterable[SummaryRow]) -> dict[str, int]:
    """Attempts by operation, as users requested them; empty if the summary counts none.

    YCSB counts a read-modify-write three times: itself, its read and its update. Here it counts once.
    """
    rows = tuple(rows)
    counts = {
        name: count.ok + count.failed
        for name, count in operation_counts(rows).items()
        if name not in NOT_OF_USERS
    }
    both = sum(
        int(row.value) for row in rows if row.name == READ_MODIFY_WRITE and row.measure in COUNTS
    )
    if both:
        counts |= {name: counts.get(name, 0) - both for name in ("READ", "UPDATE")}
        counts[READ_MODIFY_WRITE] = both
    return {name: count for name, count in counts.items() if count}
