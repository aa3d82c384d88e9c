"""The lines a YCSB client prints with `-s` on standard error, every `status.interval` seconds.

Source: `site.ycsb.StatusThread` and the `getSummary` of each measurement type, YCSB 0.17.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal, whole
from density_study.workloads.ycsb.output.entries import RAW, STATUS_HEAD, SUMMARY, is_chatter

_RATE = re.compile(r"(\S+) current ops/sec; ")
_ESTIMATE = re.compile(r"est completion in [0-9a-z, ]*?(?=\[|[A-Za-z_-]+ count: |$)")
# A client prints rates and means in the form of its locale, and never with separators of thousands.
_COMMA = r"[0-9]+,[0-9]{1,2}(?=[,\]; ])"
_OWN_COMMA = re.compile(r"[0-9]+,[0-9]{1,2}")
# One measurement, as each measurement type prints it.
_MEASUREMENTS = (
    re.compile(
        r"\s*\[(?P<name>[^\]\[:]+): Count=(?P<count>[^,]+), Max=(?P<max_us>[^,]+), "
        rf"Min=(?P<min_us>[^,]+), Avg=(?P<average>{_COMMA}|[^,\]]+)(?P<percentiles>, [^\]]*)?\]"
    ),
    re.compile(r"\s*\[(?P<name>[^\]\[: ]+) AverageLatency\(us\)=(?P<average>[^\]]+)\]"),
    re.compile(
        r"\s*(?P<name>[A-Za-z_-]+) count: (?P<count>[^,]+), average latency\(us\): (?P<average>\S+)"
    ),
)
_P99 = re.compile(r", 99=(\d+)(?:,|$)")
_NOT_FINITE = frozenset({"∞", "NaN", "\ufffd", "?"})  # "?": in a character set without the others


@dataclass(frozen=True)
class IntervalLatency:
    """One measurement since the last line. `count` and the `_us` values: None where not printed."""

    name: str
    average_us: float
    count: int | None = None
    max_us: int | None = None
    min_us: int | None = None
    p99_us: int | None = None


@dataclass(frozen=True)
class StatusRow:
    """One status line.

    time_text: the client's local time, without zone. elapsed_s: whole seconds since measuring began.
    operations: so far. current_ops_s: since the last line; None where it is not printed (no operation
    yet) or not finite (the first interval has no length).
    """

    line: int
    label: str
    time_text: str
    elapsed_s: int
    operations: int
    current_ops_s: float | None
    latencies: tuple[IntervalLatency, ...]


def parse_status(data: bytes | str, file: str) -> Parsed[StatusRow]:
    """Rows in the file's order. Operations and elapsed time that go back are quarantined.

    ParseError: no line is a status line.
    """
    ledger = Ledger(data, file)
    if not any(STATUS_HEAD.fullmatch(line.text) for line in ledger.lines):
        raise ledger.refuse("no YCSB status: no line '<time> <n> sec: <n> operations; ...'")
    last: StatusRow | None = None

    def read(line: Line) -> StatusRow | None:
        nonlocal last
        head = STATUS_HEAD.fullmatch(line.text)
        if head is None:
            _require_known(line.text)
            return None
        row = _row(line, head)
        if last and (row.elapsed_s < last.elapsed_s or row.operations < last.operations):
            raise RejectedError(
                f"time or operations go back since line {last.line}: the file may contain two runs"
            )
        last = row
        return row

    return ledger.close(ledger.read(read))


def _require_known(text: str) -> None:
    """With two measurement types combined, a line's measurements go on in lines of their own."""
    known = is_chatter(text) or RAW.fullmatch(text) or SUMMARY.fullmatch(text)
    if not known and not _is_continuation(text):
        raise RejectedError("not understood")


def _is_continuation(text: str) -> bool:
    try:
        return bool(_latencies(text))
    except RejectedError:
        return False


def _row(line: Line, head: re.Match[str]) -> StatusRow:
    line.require_end()
    rest = head["rest"]
    rate = _RATE.match(rest)
    rest = rest[rate.end() :] if rate else rest
    estimate = _ESTIMATE.match(rest)
    return StatusRow(
        line=line.number,
        label=head["label"],
        time_text=head["time"],
        elapsed_s=whole(head["elapsed"]),
        operations=whole(head["operations"]),
        current_ops_s=_finite(rate.group(1)) if rate else None,
        latencies=_latencies(rest[estimate.end() :] if estimate else rest),
    )


def _finite(text: str) -> float | None:
    own = text.replace(",", ".") if _OWN_COMMA.fullmatch(text) else text
    return None if text in _NOT_FINITE else decimal(own)


def _latencies(text: str) -> tuple[IntervalLatency, ...]:
    """All measurements of a line. RejectedError if the line contains anything else."""
    found = []
    while text.strip():
        match = next((match for form in _MEASUREMENTS if (match := form.match(text))), None)
        if match is None:
            raise RejectedError(f"not a measurement: {text.strip()[:60]!r}")
        if not _is_of_none(match.groupdict()):
            found.append(_latency(match.groupdict()))
        text = text[match.end() :]
    return tuple(found)


def _is_of_none(printed: Mapping[str, str | None]) -> bool:
    """Whether no operation was measured since the last line: there is no mean of none."""
    return printed.get("count") == "0" and printed["average"] in _NOT_FINITE


def _latency(printed: Mapping[str, str | None]) -> IntervalLatency:
    texts = {name: printed.get(name) for name in ("count", "max_us", "min_us")}
    if p99 := _P99.search(printed.get("percentiles") or ""):
        texts["p99_us"] = p99[1]
    numbers = {name: whole(text) for name, text in texts.items() if text is not None}
    average = str(printed["average"]).replace(",", ".")
    return IntervalLatency(str(printed["name"]), decimal(average), **numbers)
