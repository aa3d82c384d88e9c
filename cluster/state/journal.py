"""`Journal`: what was intended and done, one JSON object a line, fsynced before the act it announces."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cluster.model.errors import StudyError

FORMAT = 1


class Journal:
    """Append-only. Several processes may append: each line is one locked write and one fsync."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, event: str, **fields: Any) -> None:
        """Append {"format", "t" (epoch seconds), "event", **fields}; on disk when this returns."""
        line = json.dumps({"format": FORMAT, "t": time.time(), "event": event, **fields})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, _separator(descriptor) + line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self) -> Iterator[dict[str, Any]]:
        """Every whole line. A torn last line (a crash in the middle of a write) is left out."""
        if not self.path.exists():
            return
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # torn by a crash: the act it would have announced never began
            if entry.get("format") != FORMAT:
                raise StudyError(
                    f"journal line has format {entry.get('format')!r}; this version reads {FORMAT}.",
                    f"{self.path}:{number}",
                    "open this run with the version of the program that wrote it.",
                )
            yield entry


def _separator(descriptor: int) -> bytes:
    """A newline where a crash left the last line torn, so that the next one stays readable."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
