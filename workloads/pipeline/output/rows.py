"""What both parsers share: a title with the format, a header, and rows of equal length."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError
from density_study.workloads.pipeline.machine.files import FORMAT, IMPORTANCE, LOAD, STAGES

Row = TypeVar("Row")
TITLE = re.compile(r"# (stages|answers) format ([0-9]+), node=([A-Za-z0-9][A-Za-z0-9._-]*)")
NAME = re.compile(r"[a-z0-9-]{1,40}")


def parse_rows(
    data: bytes | str,
    file: str,
    what: str,
    columns: Sequence[str],
    row_of: Callable[[int, str, dict[str, str]], Row],
) -> Parsed[Row]:
    """`row_of` gets the line's number, the node and the cells. ParseError unless the first line is the title
    of such a file in this format."""
    ledger = Ledger(data, file)
    first = ledger.lines[0].text if ledger.lines else ""
    title = TITLE.fullmatch(first)
    if title is None or title[1] != what:
        raise ledger.refuse(f"no file of the pipeline's {what}: no title in its first line")
    if title[2] != str(FORMAT):
        raise ledger.refuse(f"{what} format {title[2]}; this version reads format {FORMAT}", 1)
    node, header = title[3], ",".join(columns)

    def read(line: Line) -> Row | None:
        if line.number == ledger.lines[0].number or line.text in (header, ""):
            return None
        line.require_end()
        cells = line.text.split(",")
        if len(cells) != len(columns):
            raise RejectedError(f"{len(cells)} cells under {len(columns)} columns")
        return row_of(line.number, node, dict(zip(columns, cells, strict=True)))

    return ledger.close(ledger.read(read))


def genome(text: str) -> str:
    """The name of a genome, or of a cohort. RejectedError otherwise."""
    if not NAME.fullmatch(text):
        raise RejectedError(f"not a name: {text[:40]!r}")
    return text


def stage(text: str) -> str:
    """RejectedError unless it is a stage."""
    if text not in (*STAGES, LOAD, IMPORTANCE):
        raise RejectedError(f"unknown stage {text[:40]!r}")
    return text
