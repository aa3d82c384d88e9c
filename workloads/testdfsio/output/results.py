"""TestDFSIO's result file (`-resFile`): one block per job, appended. Console output has the same blocks.

Source: `TestDFSIO.analyzeResult` of hadoop-mapreduce-client-jobclient (tests), 0.20 to 3.4. The tool's
"mb" is MiB, its "Throughput" is bytes over the sum of task times: a mean per stream (method 13).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal, whole

# The tool's name of a test to a test case's mode (`DfsioMode`).
MODES: Mapping[str, str] = MappingProxyType(
    {
        "write": "write",
        "read": "read",
        "append": "append",
        "random read": "random",
        "backward read": "backward",
        "skip read": "skip",
        "truncate": "truncate",
    }
)

# Before each line of the tool, or of HiBench's TestDFSIOEnh, where the console's output was kept: patterns
# of log4j in Hadoop's clients and tests, of logback and of slf4j-simple.
LOGGED = (
    r"(?:(?:[0-9]{2,4}[-/][0-9]{2}[-/][0-9]{2}[ T])?[0-9:.,]+ +)?(?:\[[^\]\s]*\] +)?INFO +(?:\[[^\]\s]*\] +)?"
    r"(?:[\w.$]+\.)?TestDFSIO(?:Enh)?(?:\$\w+)?(?:(?: \(TestDFSIO(?:Enh)?\.java:[^()\s]*\([0-9]+\)\))? -|:) ?"
)
_PREFIX = re.compile(LOGGED)
HEADER = re.compile(r"----- TestDFSIO ----- : (.*)")
_FIELD = re.compile(r"\s*(\S[^:]*): (.*)")
_DATE = re.compile(r"\S.*[0-9]{4}")
ROUNDED = 0.005
_WRONG_BY_1000 = "Total Throughput mb/sec"  # older releases: MiB over milliseconds


@dataclass(frozen=True)
class DfsioResult:
    """One block. `type` is the tool's name of the test, `mode` the test case's; `line` its header's."""

    line: int
    type: str
    mode: str
    date_text: str
    files: int
    total_mib: float
    throughput_mib_s: float
    average_io_rate_mib_s: float
    io_rate_stddev: float
    exec_time_s: float


def _date(text: str) -> str:
    if not _DATE.fullmatch(text):
        raise RejectedError(f"not a date: {text[:40]!r}")
    return text


def _number(text: str) -> float:
    try:
        return decimal(text)
    except RejectedError as error:
        # A task time of zero milliseconds divides by zero: the tool prints it as infinity or NaN.
        if str(error).startswith("not finite"):
            raise RejectedError(f"zero time: {text}") from None
        raise


# Field of DfsioResult, and reader of the value, by the tool's label.
FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "Date & time": ("date_text", _date),
        "Number of files": ("files", partial(whole, most=2**31 - 1)),
        "Total MBytes processed": ("total_mib", _number),
        "Throughput mb/sec": ("throughput_mib_s", _number),
        "Average IO rate mb/sec": ("average_io_rate_mib_s", _number),
        "IO rate std deviation": ("io_rate_stddev", _number),
        "Test exec time sec": ("exec_time_s", _number),
    }
)


def parse_results(data: bytes | str, file: str) -> Parsed[DfsioResult]:
    """Rows in the file's order. One bad line quarantines its whole block.

    ParseError: the file has no TestDFSIO header.
    """
    ledger = Ledger(data, file)
    blocks = list(_blocks(ledger))
    if not blocks:
        raise ledger.refuse("no TestDFSIO block: no line '----- TestDFSIO ----- : <type>'")
    return ledger.close(row for block in blocks if (row := _read(ledger, block)) is not None)


def bare(text: str) -> str:
    """A line of the tool without the prefix of a console's log."""
    prefix = _PREFIX.match(text)
    return text[prefix.end() :] if prefix else text


def _blocks(ledger: Ledger) -> Iterator[list[Line]]:
    """A header and the lines up to the next one. Lines before the first header belong to no block."""
    block: list[Line] = []
    for line in (replace(line, text=bare(line.text)) for line in ledger.lines):
        if HEADER.fullmatch(line.text):
            if block:
                yield block
            block = [line]
        elif block:
            block.append(line)
        elif not line.text.strip():
            ledger.skip(line)
    if block:
        yield block


def _read(ledger: Ledger, block: list[Line]) -> DfsioResult | None:
    try:
        fields = _fields(ledger, block)
        row = _row(block[0], fields)
    except _BlockError as error:
        _quarantine(ledger, block, error)
        return None
    ledger.parse(block[0], *fields.values())
    return row


class _BlockError(RejectedError):
    def __init__(self, reason: str, line: Line | None = None) -> None:
        super().__init__(reason)
        self.line = line


def _quarantine(ledger: Ledger, block: list[Line], error: _BlockError) -> None:
    for line in block:
        if _is_unused(line):
            ledger.skip(line)
        elif error.line is None or line is error.line:
            ledger.quarantine(str(error), line)
        else:
            ledger.quarantine(f"block not trusted: line {error.line.number}: {error}", line)


def _fields(ledger: Ledger, block: list[Line]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    for line in block[1:]:
        label = _label(line)
        if _is_unused(line):
            ledger.skip(line)
        elif label in FIELDS and label in found:
            raise _BlockError(f"second {label!r} in one block", line)
        elif label in FIELDS:
            found[label] = line
    missing = [label for label in FIELDS if label not in found]
    if missing:
        raise _BlockError(f"block is incomplete: no {missing[0]!r}")
    return found


def _is_unused(line: Line) -> bool:
    return not line.text.strip() or _label(line) == _WRONG_BY_1000


def _label(line: Line) -> str:
    match = _FIELD.fullmatch(line.text)
    return match.group(1) if match else ""


def _row(header: Line, fields: Mapping[str, Line]) -> DfsioResult:
    test = header.text.partition(" : ")[2]
    if test not in MODES:
        raise _BlockError(f"unknown type of test {test!r}", header)
    values = {}
    for label, (name, read) in FIELDS.items():
        line = fields[label]
        if not line.ended:
            raise _BlockError("last line is cut off: no newline ends it", line)
        try:
            values[name] = read(line.text.partition(": ")[2])
        except RejectedError as error:
            raise _BlockError(str(error), line) from None
    row = DfsioResult(line=header.number, type=test, mode=MODES[test], **values)
    if (took_s := _least_task_s(row)) > row.files * (1.02 * row.exec_time_s + 1.0):
        raise _BlockError(
            f"{row.total_mib:g} MiB at {row.throughput_mib_s:g} MiB/s take {row.files} streams "
            f"{took_s:.0f} s together, and the job took {row.exec_time_s:g} s",
            fields["Throughput mb/sec"],
        )
    return row


def _least_task_s(row: DfsioResult) -> float:
    """The sum of the streams' times by the printed rate, which is rounded. None of them is longer than the
    job."""
    return row.total_mib / (row.throughput_mib_s + ROUNDED)
