"""Rows of any CSV file: detects the delimiter, and rejects what is not a table."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted

_log = logging.getLogger(__name__)
DELIMITERS = (",", ";", "\t")
_THREE_DIGITS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
_SEP_LINE = re.compile(r'\A"?sep=[^\r\n]?"?(?=\r?\n)', re.IGNORECASE)  # Excel's own first line
Row = Mapping[str, str]


def csv_rows(
    text: str, where: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[str, Row]]:
    """(place, cells by lower-case column) of each line that is not empty. Cells are parted by commas,
    semicolons or tabs, whichever parts the header into most of the needed columns.

    InputError for a column that is missing or there twice, a line with more cells than the header has
    (an unquoted comma in a number), and text that is not CSV. `where` names the file.

    Also for a last line without line end that lacks cells. With all cells it is read, with a warning if the
    last column is needed or optional: 12.5 may have been 12.58, but spreadsheets also end files like this.
    """
    text = _SEP_LINE.sub("", text, count=1)
    delimiter = delimiter_of(text, needed)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    lines = (
        (f"{where}, line {reader.line_num}", cells)
        for cells in reader
        if any(cell.strip() for cell in cells)
    )
    try:
        place, cells = next(lines, (f"{where}, line 1", []))
        names = _header(cells, place, needed)
        for place, cells in lines:
            is_last = not text.endswith(("\n", "\r")) and reader.line_num > text.count("\n")
            if is_last and len(cells) < len(names):
                raise InputError(
                    f"the line is cut off: it has {counted(len(cells), 'cell')}, the header {len(names)}, "
                    "and no line end closes it.",
                    place,
                    "copy the file again; if the line is whole, append a line end.",
                )
            if is_last and names[-1] in (*needed, *optional) and not text.endswith('"'):
                _log.warning(
                    "%s: no line end closes the file; if it was cut off, the last cell, %r, may be too short",
                    place,
                    cells[-1][:40],
                )
            yield place, _row(cells, names, place)
    except csv.Error as error:
        raise InputError(
            f"the file is not valid CSV: {error}.",
            f"{where}, line {reader.line_num}",
            "look for a quote that is not closed, or save it as CSV again.",
        ) from error


def delimiter_of(text: str, needed: Sequence[str]) -> str:
    """The character that separates the cells of the header."""
    head = (_SEP_LINE.sub("", text, count=1).strip().splitlines() or [""])[0]
    return max(DELIMITERS, key=lambda one: len(set(_names(head.split(one))) & set(needed)))


def check_points_are_decimal(rows: Sequence[tuple[str, Row]], columns: Sequence[str]) -> None:
    """InputError if a column has numbers like 1.878, and none that shows what the point means.

    Where semicolons or tabs part the cells, the comma may be the decimal sign, and 1.878 be 1,878.
    """
    for name in columns:
        pointed = [(place, row[name]) for place, row in rows if "." in row.get(name, "")]
        unclear = [(place, cell) for place, cell in pointed if _THREE_DIGITS.fullmatch(cell)]
        if unclear and len(unclear) == len(pointed):
            place, cell = unclear[0]
            raise InputError(
                f"{name} is {cell!r}, which may mean {float(cell):g} or {cell.replace('.', '')}: every "
                "number of this column with a point has three digits after it.",
                place,
                "write numbers without separators of thousands; part the cells by commas if the point is "
                "the decimal sign.",
            )


def _names(cells: Sequence[str]) -> list[str]:
    return [cell.strip().strip('"').strip().lower() for cell in cells]


def _header(cells: Sequence[str], place: str, needed: Sequence[str]) -> list[str]:
    names = _names(cells)
    missing = [name for name in needed if name not in names]
    if missing:
        found = ", ".join(name for name in names if name) or "none"
        raise InputError(
            f"the column {missing[0]!r} is missing; columns found: {found[:200]}.",
            place,
            f"give the columns {', '.join(needed)} in the first line.",
        )
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} occurs twice.", place, "remove one of the two.")
    return names


def _row(cells: Sequence[str], names: Sequence[str], place: str) -> Row:
    if any(cell.strip() for cell in cells[len(names) :]):
        raise InputError(
            f"the line has {counted(len(cells), 'cell')}, but the header has {len(names)}.",
            place,
            "write numbers without separators of thousands, and text with commas in quotes.",
        )
    return dict(zip(names, (cell.strip() for cell in cells), strict=False))
