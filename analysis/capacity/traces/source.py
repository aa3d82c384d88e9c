"""`Source`: a record's file, plain or gzip, read within limits: others wrote it, and it may be damaged."""

from __future__ import annotations

import csv
import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader, StringIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.cluster.state.plain_file import why_unread
from density_study.workloads.base.parsing import BOM
from density_study.workloads.imports.foreign import HEAD_BYTES

MOST_BYTES = 8 * 2**30
"""For a file that is read line by line, decompressed: an event log of a day of a cluster."""
MOST_DOCUMENT = 256 * 2**20
"""Bytes of a JSON document or a table, which is read into memory as a whole."""
MOST_LINES = 8_000_000
"""For such a file: short lines, packed to a thousandth, would else fill the memory with tasks."""
MOST_LINE = 16 * 2**20
DELIMITERS = ("\t", "|", ",", ";")
GZIP = b"\x1f\x8b"
Row = Mapping[str, str]


@dataclass(frozen=True)
class Source:
    """in_folder: it was found in a folder that the user named."""

    path: Path
    in_folder: bool = False

    @property
    def where(self) -> str:
        return str(self.path)

    def refuse(self, what: str, remedy: str, line: int | None = None) -> NoReturn:
        raise InputError(what, self.where + (f", line {line}" if line else ""), remedy)

    @cached_property
    def head(self) -> bytes:
        """The beginning, decompressed."""
        with self._opened() as stream:
            return self._read(stream, HEAD_BYTES)

    @property
    def start(self) -> bytes:
        """The beginning, without a mark of UTF-8 and blanks: by its first letter, a document or a table."""
        return self.head.lstrip(BOM + b" \t\r\n")

    def text(self) -> str:
        """The whole text. InputError if it is larger than a document may be, or not UTF-8."""
        with self._opened() as stream:
            data = self._read(stream, MOST_DOCUMENT + 1)
        if len(data) > MOST_DOCUMENT:
            self.refuse(
                f"the file has more than {MOST_DOCUMENT // 2**20} MiB.",
                "split it, for example by workflow.",
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.refuse(f"the file is not UTF-8: {why_unread(error)}.", "save it as UTF-8.")

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number, text) of each line that is not empty. InputError beyond the limits."""
        with self._opened() as stream:
            text = TextIOWrapper(cast("BufferedReader", stream), "utf-8-sig", newline=None)
            seen, number = 0, 0
            try:
                while line := text.readline(MOST_LINE):
                    seen, number = seen + len(line), number + 1
                    if seen > MOST_BYTES or number > MOST_LINES or len(line) >= MOST_LINE:
                        self.refuse("the file or a line of it is too large.", "split it.", number)
                    if line.strip():
                        yield number, line
            except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
                self.refuse(
                    f"the file cannot be read: {why_unread(error)}.", "copy it again.", number + 1
                )

    def document(self) -> Any:
        """The value of a JSON document."""
        return self.value(self.text(), None)

    def value(self, text: str, line: int | None) -> Any:
        """One JSON value."""
        try:
            return json.loads(text, parse_constant=_no_constant)
        except ValueError as error:
            self.refuse(
                f"this is not valid JSON: {why_unread(error)}.", "copy the file again.", line
            )

    def table(self, delimiter: str | None = None) -> Iterator[tuple[int, Row]]:
        """(line, cells by column) of a table. delimiter: None: the one that parts the header most often."""
        text = self.text()
        if not text.endswith(("\n", "\r")):
            self.refuse(
                "the last line is cut off: no line end closes it.",
                "copy the file again; if the line is whole, append a line end.",
                text.count("\n") + 1,
            )
        first = text.lstrip().split("\n", 1)[0]
        mark = delimiter or max(DELIMITERS, key=first.count)
        if len(mark) > 1:
            text, mark = text.replace(mark, "\t"), "\t"
        former = csv.field_size_limit(MOST_LINE)  # of the whole process
        # sacct does not quote, and a job's name may hold a quote; what saves with commas quotes them in cells
        quotes = mark in ",;" or (delimiter is None and mark != "|")
        reader = csv.reader(
            StringIO(text, newline=""),
            delimiter=mark,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        )
        try:
            header = next(reader, [])
            names = [name.strip() for name in header]
            for cells in reader:
                if reader.line_num > MOST_LINES:
                    self.refuse("the table has too many lines.", "split it.", reader.line_num)
                if cells == header:
                    self.refuse(
                        "the header again: records of two runs in one file.",
                        "give each a file.",
                        reader.line_num,
                    )
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, self._row(names, cells, reader.line_num)
        except csv.Error as error:
            self.refuse(f"the file is not a table: {error}.", "copy it again.", reader.line_num)
        finally:
            csv.field_size_limit(former)

    def _row(self, names: Sequence[str], cells: Sequence[str], line: int) -> Row:
        if len(cells) != len(names):
            self.refuse(
                f"the line has {counted(len(cells), 'cell')}, and the header has {len(names)}.",
                "give the file as it was written.",
                line,
            )
        return {name: cell.strip() for name, cell in zip(names, cells, strict=True) if name}

    def _opened(self) -> IO[bytes]:
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                self.refuse("this is not a regular file.", "name a file or a folder of files.")
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            stream = os.fdopen(descriptor, "rb")
            packed = stream.read(2) == GZIP
            stream.seek(0)
        except OSError as error:
            self.refuse(f"the file cannot be read: {error.strerror}.", "name a file that exists.")
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream)) if packed else stream

    def _read(self, stream: IO[bytes], size: int) -> bytes:
        try:
            return stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            self.refuse(f"the file cannot be read: {why_unread(error)}.", "copy it again.")


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
