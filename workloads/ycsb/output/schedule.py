"""The operations due in each second of a schedule: `<client>-schedule.csv` of our ScheduledWorkload."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, decimal, whole

HEADER = "epoch_ms,piece,operations"


@dataclass(frozen=True)
class ScheduleRow:
    """A second: its start by the client's clock, the piece of the schedule that it lies in (0: the ramp-up),
    and the operations that were due in it."""

    line: int
    epoch_s: float
    piece: int
    operations: float


def parse_schedule(data: bytes | str, file: str) -> Parsed[ScheduleRow]:
    """Rows in the file's order. ParseError: the file is no such log."""
    ledger = Ledger(data, file)
    if not ledger.lines or ledger.lines[0].text != HEADER:
        raise ledger.refuse(f"no log of a schedule: its first line is not {HEADER!r}")
    return ledger.close(ledger.read(_row))


def _row(line: Line) -> ScheduleRow | None:
    if line.number == 1 or not line.text:
        return None
    cells = line.text.split(",")
    if len(cells) != 3 or not line.ended:
        raise RejectedError("three fields expected")
    return ScheduleRow(
        line.number, whole(cells[0]) / 1000, whole(cells[1], 2**31 - 1), decimal(cells[2])
    )
