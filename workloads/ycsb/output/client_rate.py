"""The rate of one YCSB client, from its interval logs."""

from __future__ import annotations

from pathlib import Path

from cluster.model.errors import StudyError
from workloads.base.parsing import ParseError
from workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE


def client_rate(folder: Path, client: str, from_epoch_s: float) -> float:
    """Successful operations per second in the client's intervals that start at `from_epoch_s` (client's
    clock) or later: what `jobs.metrics.throughput` computes. StudyError if the logs in `folder` do not
    show it."""
    rows = [row for row in _intervals(folder, client) if row.start_epoch_s >= from_epoch_s]
    if not rows:
        raise _unreadable(
            f"{client} in {folder}", "no interval log holds operations after its warm-up"
        )
    seconds = max(r.start_epoch_s + r.length_s for r in rows) - min(r.start_epoch_s for r in rows)
    # YCSB logs a read-modify-write three times: as itself, as its read and as its update.
    repeated = sum(r.operations for r in rows if r.measurement.operation == READ_MODIFY_WRITE)
    return (sum(row.operations for row in rows) - 2 * repeated) / seconds


def _intervals(folder: Path, client: str) -> list[IntervalRow]:
    rows: list[IntervalRow] = []
    for path in sorted(folder.glob(f"{client}-*.hdr")):
        try:
            parsed = parse_hdr(path.read_bytes(), path.name)
        except ParseError as error:
            raise _unreadable(str(path), str(error)) from error
        if parsed.quarantined:
            raise _unreadable(str(path), f"{path.name}: {parsed.quarantined[0].reason}")
        rows += [row for row in parsed.rows if _counts(row)]
    return rows


def _counts(row: IntervalRow) -> bool:
    what = row.measurement
    return not what.intended and what.outcome is None and what.operation not in NOT_OF_USERS


def _unreadable(where: str, why: str) -> StudyError:
    return StudyError(
        f"{why}.", where, "see the client's output; a new run (--fresh) measures it again."
    )
