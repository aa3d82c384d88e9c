"""The TestDFSIO results in a text file: a result file, or console output with the lines of other programs.

A piece is one block: its header and its seven values, with the prefixes of log lines if there are any. The
request comes from the console lines above it.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import islice

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.imports.piece import DfsioFacts, Piece, Refused, Text
from density_study.workloads.testdfsio.output.results import FIELDS, HEADER, bare, parse_results

_RATE = "Throughput mb/sec: "
_FILES = re.compile(r"nrFiles = ([0-9]{1,9})")
_FILE_SIZE = re.compile(r"(?:nrBytes|fileSize) \(MB\) = ([0-9]{1,12}(?:\.[0-9]+)?)")  # of one file
_BUFFER = re.compile(r"bufferSize = ([0-9]{1,12})")
OTHER_REQUEST = (
    "the result has {:g} files, and the request above it {:g}: it is of another job; "
    "cut the request out"
)
NO_HEADER = (
    "values of TestDFSIO, and no line '----- TestDFSIO ----- : <type>' above them: give the text as the tool "
    "wrote it, without line breaks or dashes of an editor"
)
NO_RESULT = "a TestDFSIO job began here and printed no result: it failed, or its output is cut off"


def dfsio_pieces(text: Text) -> Iterator[Piece | Refused]:
    """The results of the file, in its order. A block that cannot be read is refused by its line."""
    lines = [bare(line) for line in text.lines]
    heads = [number for number, line in enumerate(lines, start=1) if HEADER.fullmatch(line)]
    begins = [number for number, line in enumerate(lines, start=1) if _FILES.fullmatch(line)]
    if not heads:
        yield from _without_header(text.file, lines)
    ends = [0, *heads]
    for number, head in enumerate(heads, start=1):
        above = begins[bisect(begins, ends[number - 1]) : bisect(begins, head)]
        yield from (Refused(text.file, begin, NO_RESULT) for begin in above[:-1])
        request = lines[above[-1] - 1 : head] if above else ()
        following = heads[number] if number < len(heads) else len(lines) + 1
        end = _last(lines, head, following)
        yield _piece(text, number, head, end, request, alone=len(heads) == 1)
    last_head = heads[-1] if heads else 0
    yield from (Refused(text.file, begin, NO_RESULT) for begin in begins if begin > last_head)


def _without_header(file: str, lines: Sequence[str]) -> Iterator[Refused]:
    values = (n for n, line in enumerate(lines, start=1) if line.lstrip().startswith(_RATE))
    yield from (Refused(file, number, NO_HEADER) for number in islice(values, 1))


def _last(lines: Sequence[str], head: int, following: int) -> int:
    """Line number of the block's last value."""
    labels = (f"{label}: " for label in FIELDS)
    starts = tuple(labels)
    found = [
        number
        for number in range(head + 1, following)
        if lines[number - 1].lstrip().startswith(starts)
    ]
    return max(found[: len(FIELDS)], default=head)


def _piece(
    text: Text, number: int, head: int, last: int, request: Sequence[str], alone: bool
) -> Piece | Refused:
    """alone: no other result is in the file."""
    lines = text.cut(head, last)
    try:
        if alone:
            whole = text.cut(1, len(text.lines))
            parsed = parse_results(whole.data, text.file)
            lines = whole if len(parsed.rows) == 1 and not parsed.quarantined else lines
        parsed = parse_results(lines.data, text.file)
    except ParseError as error:
        return Refused(text.file, head, error.reason)
    for bad in parsed.quarantined:
        return Refused(text.file, lines.first + bad.line - 1, bad.reason)
    (row,) = parsed.rows
    files, file_mib, buffer_bytes = (
        _asked(request, form) for form in (_FILES, _FILE_SIZE, _BUFFER)
    )
    if files is not None and row.files > files:
        return Refused(text.file, head, OTHER_REQUEST.format(row.files, files))
    facts = DfsioFacts(
        mode=row.mode,
        files=row.files,
        total_mib=row.total_mib,
        exec_s=row.exec_time_s,
        date_text=row.date_text,
        per_stream_mib_s=row.throughput_mib_s,
        asked_files=int(files) if files is not None else None,
        asked_file_mib=file_mib,
        buffer_bytes=int(buffer_bytes) if buffer_bytes is not None else None,
    )
    return Piece(text.file, "dfsio-results", number, lines, facts)


def _asked(request: Sequence[str], form: re.Pattern[str]) -> float | None:
    found = [match for line in request if (match := form.fullmatch(line.strip()))]
    return float(found[0].group(1)) if len(found) == 1 else None
