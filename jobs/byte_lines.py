"""A file's lines as places in its bytes: many are looked at together, few become text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workloads.parsing import BOM, Line, decoded

Array = npt.NDArray[Any]
_NEWLINE = 10


class ByteLines:
    """Lines as `workloads.parsing` splits them; index 0 is line 1. `ends[i]` is where line i ends,
    its newline included."""

    def __init__(self, data: bytes) -> None:
        self.data = data.removeprefix(BOM)
        newlines = np.flatnonzero(np.frombuffer(self.data, np.uint8) == _NEWLINE) + 1
        self._ended = len(newlines)
        unended = [len(self.data)] if self.data[-1:] not in (b"", b"\n") else []
        self.ends = np.concatenate((newlines, np.array(unended, np.int64))).astype(np.int64)
        self._begins = np.concatenate((np.zeros(1, np.int64), self.ends))
        self._masks: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, index: int) -> tuple[Line, str | None]:
        """The line, and why it is not to be read (None: it is)."""
        piece = self.data[self._begins[index] : self.ends[index]].removesuffix(b"\n")
        return decoded(index + 1, piece, index < self._ended)

    def beginning_with(self, mark: bytes) -> Iterator[str]:
        """Texts of the readable lines whose first byte is `mark`."""
        raw = np.frombuffer(self.data, np.uint8)
        for index in np.flatnonzero(raw[self._begins[: len(self)]] == mark[0]):
            line, unreadable = self.line(int(index))
            if unreadable is None:
                yield line.text

    def block(self, first: int, end: int) -> pa.Buffer:
        """The bytes of lines first..end-1, not copied."""
        begin = int(self._begins[first])
        return pa.py_buffer(self.data).slice(begin, int(self._begins[end]) - begin)

    def run(self, first: int, pattern: str) -> int:
        """Where the run of lines from `first` on ends that match `pattern` (RE2, newline included)."""
        others = self._others(pattern)
        at = int(np.searchsorted(others, first))
        return int(others[at]) if at < len(others) else len(self)

    def _others(self, pattern: str) -> Array:
        """Indices of the lines that do not match."""
        if pattern not in self._masks:
            buffers = [None, pa.py_buffer(self._begins), pa.py_buffer(self.data)]
            lines = pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
            matches = pc.match_substring_regex(lines, pattern)
            self._masks[pattern] = np.flatnonzero(~matches.to_numpy(zero_copy_only=False))
        return self._masks[pattern]
