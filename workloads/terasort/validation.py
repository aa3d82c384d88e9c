"""The output of TeraValidate, and what it says against a sort. Pure.

Source: `org.apache.hadoop.examples.terasort.TeraValidate` and `TeraGen`, Hadoop 3.4.2. The report has one
line `checksum TAB hex`, the sum of the CRC32 of all rows, and a line `error TAB what` for each misorder; the
explanation of a bad partition goes on in indented lines. TeraGen's counter `CHECKSUM` has the same sum of the
rows that it made, as a signed number of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from density_study.cluster.model.plain import counted
from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError
from density_study.workloads.testdfsio.output.history import JobHistory

CHECKSUM = "TeraGen$Counters.CHECKSUM"
_BITS = 2**64
_HEX = re.compile(r"[0-9a-f]{1,32}")


@dataclass(frozen=True)
class Verified:
    """One line: the checksum of all rows, or a place where they are out of order."""

    checksum: int | None = None
    error: str = ""


def parse_validation(data: bytes | str, file: str) -> Parsed[Verified]:
    """ParseError: there is neither a checksum nor an error in the file."""
    ledger = Ledger(data, file)
    rows = ledger.read(_row)
    if not rows:
        raise ledger.refuse("no report of TeraValidate: no line 'checksum' or 'error'")
    return ledger.close(rows)


def _row(line: Line) -> Verified | None:
    key, _, value = line.text.partition("\t")
    if key in ("error", "checksum") and not line.ended:
        raise RejectedError("the line is cut")
    if key == "error" and value:
        return Verified(error=value)
    if key == "checksum":
        if not _HEX.fullmatch(value):
            raise RejectedError("not a whole checksum")
        return Verified(checksum=int(value, 16))
    if not line.text.strip() or line.text.startswith("  "):
        return None  # further lines of an error
    raise RejectedError("neither a checksum nor an error")


def order_faults(report: Parsed[Verified], generated: JobHistory) -> Iterator[str]:
    """Why the output is not the input in order, as sentences; none if it is."""
    errors = [row.error for row in report.rows if row.error]
    if errors:
        yield f"TeraValidate found {counted(len(errors), 'misorder')}, the first: {errors[0][:200]}"
    if report.quarantined:
        bad = report.quarantined[0]
        yield f"{bad.file}:{bad.line}: {bad.reason}"
    sums = [row.checksum % _BITS for row in report.rows if row.checksum is not None]
    made = generated.counters.get(CHECKSUM)
    if made is None:
        yield "TeraGen counted no checksum: whether the rows are those of the input is unknown"
    elif sums != [made % _BITS]:
        yield (
            f"the checksum of the sorted rows is {[f'{one:x}' for one in sums]}, that of the input "
            f"{made % _BITS:x}: rows were lost or changed"
        )
