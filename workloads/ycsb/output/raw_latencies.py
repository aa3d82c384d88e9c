"""Raw latencies a YCSB client prints with `measurementtype=raw`: `READ,<epoch ms>,<latency us>`."""

from __future__ import annotations

from dataclasses import dataclass

from workloads.base.parsing import Ledger, Line, Parsed, RejectedError, whole
from workloads.ycsb.output.chatter import RAW
from workloads.ycsb.output.entries import entries


@dataclass(frozen=True)
class RawLatency:
    """One operation: when it was recorded (client's clock) and how long it took."""

    line: int
    name: str
    epoch_ms: int
    latency_us: int


def parse_raw(data: bytes | str, file: str) -> Parsed[RawLatency]:
    """Rows in the file's order; the summary that follows them is known and skipped.

    ParseError: no line is a raw latency.
    """
    ledger = Ledger(data, file)
    for entry in entries(ledger):
        ledger.skip(*entry.lines)
    rows = [row for line in ledger.lines if (row := _read(ledger, line)) is not None]
    if not rows:
        raise ledger.refuse("no raw latencies: no line 'READ,<ms>,<us>'")
    return ledger.close(rows)


def _read(ledger: Ledger, line: Line) -> RawLatency | None:
    match = RAW.fullmatch(line.text)
    if match is None:
        return None
    try:
        if not line.ended:
            raise RejectedError("last line is cut off: no newline ends it")
        row = RawLatency(line.number, match["name"], whole(match["time"]), whole(match["latency"]))
    except RejectedError as error:
        ledger.quarantine(str(error), line)
        return None
    ledger.parse(line)
    return row
