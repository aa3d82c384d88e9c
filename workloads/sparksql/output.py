"""`sql_queries`: what the program wrote of each query. Standard library only: Spark's executors load this
module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from density_study.workloads.base.parsing import (
    YEARS_S,
    Ledger,
    Line,
    Parsed,
    RejectedError,
    decimal,
    whole,
)
from density_study.workloads.base.reader import ReadFile
from density_study.workloads.sparksql.queries import FIELDS, QUERIES, Answer
from density_study.workloads.tables import SQL_QUERIES, Table

_HEADER = ",".join(FIELDS)


@dataclass(frozen=True)
class Answered:
    """A query, its times and its answer. `seconds`: by a clock that nobody sets."""

    line: int
    query: str
    start_epoch_s: float
    end_epoch_s: float
    seconds: float
    rows: int
    total: int


def parse_queries(data: bytes | str, file: str) -> Parsed[Answered]:
    """Rows in the file's order. ParseError: the file does not begin with the columns. Quarantines queries
    that do not exist or were answered before, and times that cannot be."""
    ledger = Ledger(data, file)
    if not ledger.lines or ledger.lines[0].text != _HEADER or not ledger.lines[0].ended:
        raise ledger.refuse(f"no queries of Spark SQL: the first line is not {_HEADER}")
    seen = set[str]()

    def row(line: Line) -> Answered | None:
        if line.number == 1:
            return None
        found = _row(line)
        if found.query in seen:
            raise RejectedError(f"a second answer of {found.query}")
        seen.add(found.query)
        return found

    return ledger.close(tuple(ledger.read(row)))


def _row(line: Line) -> Answered:
    cells = line.text.split(",")
    if len(cells) != len(FIELDS) or not line.ended:
        raise RejectedError("cut off, or not a row")
    if cells[0] not in QUERIES:
        raise RejectedError("no such query")
    start_s, end_s, seconds = map(decimal, cells[1:4])
    if not YEARS_S[0] <= start_s <= end_s <= YEARS_S[1] or seconds <= 0:
        raise RejectedError("it ends before it begins, or not in this century")
    rows, total = map(whole, cells[4:])
    if rows < 0 or total < 0:
        raise RejectedError("less than nothing was found")
    return Answered(line.number, cells[0], start_s, end_s, seconds, rows, total)


def query_rows(found: Answered, _: ReadFile) -> Iterator[tuple[Table, dict[str, Any]]]:
    row = asdict(found)
    del row["line"]
    yield SQL_QUERIES, row


def answer_faults(found: Parsed[Answered], rows: int) -> Iterator[str]:
    """How the answers differ from those of a table of `rows` rows, as sentences."""
    answers = {one.query: Answer(one.rows, one.total) for one in found.rows}
    for name, query in QUERIES.items():
        expected = query.answer(rows)
        if name not in answers:
            yield f"the query {name} has no answer"
        elif answers[name] != expected:
            yield f"the query {name} found {answers[name]}, and the table has {expected}"
