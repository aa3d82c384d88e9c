"""The table and its queries, whose answers follow from the number of rows. Standard library only.

Row `id` of 0, 1, ... has `part` = id mod 1000, a `hash` of id by which the table is not ordered, and a `text`
of 128 hexadecimal digits, which no encoding of Parquet makes smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ROW_BYTES = 150
"""About what a row takes in Parquet, without compression."""
PARTS = 1000
"""The number of rows is a multiple of it: so each part has as many rows."""
COLUMNS = (
    "id",
    f"int(id % {PARTS}) AS part",
    "xxhash64(id) AS hash",
    "sha2(string(id), 512) AS text",
)


BLOCK = f"id DIV {PARTS}"
"""The number of a row's block. The sum of the ids themselves leaves 64 bits at 600 GiB."""


@dataclass(frozen=True)
class Answer:
    """`rows` that the query found, and the `total` of the numbers of their blocks."""

    rows: int
    total: int


@dataclass(frozen=True)
class Query:
    """`sql` of the view `t`. It is carried out in full: a row for each row that it finds is counted, not
    kept."""

    sql: str
    answer: Callable[[int], Answer]
    """By the number of rows of the table."""


def _of_parts(parts: int) -> Callable[[int], Answer]:
    """The rows of the first parts: blocks of 1000 ids have `parts` of them each."""

    def answer(rows: int) -> Answer:
        blocks = rows // PARTS
        return Answer(blocks * parts, parts * blocks * (blocks - 1) // 2)

    return answer


QUERIES = {
    "aggregate": Query(
        f"SELECT count(*) AS rows, sum({BLOCK}) AS total FROM t WHERE part < 100 AND length(text) = 128",
        _of_parts(100),
    ),
    "join": Query(
        f"SELECT count(*) AS rows, sum(a.{BLOCK}) AS total FROM t AS a JOIN t AS b ON a.id = b.id "
        "WHERE b.part < 500 AND length(a.text) = length(b.text)",
        _of_parts(500),
    ),
    "sort": Query("SELECT * FROM t ORDER BY hash", _of_parts(PARTS)),
}
"""A scan with a filter, a join by a shuffle, and a total order, in the order in which they run."""
FIELDS = ("query", "start_epoch_s", "end_epoch_s", "seconds", "rows", "total")
"""Columns of what the program writes."""
