"""Writes of this process below a folder: counted, and made to fail from the n-th on, as on a full disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MAKES = {"os.mkdir": 0, "os.rename": 1, "os.link": 1, "os.symlink": 1, "os.utime": 0}
"""Audit events that write -> the place of the path among their arguments."""
_REMOVES = {"os.remove": 0, "os.rmdir": 0}


@dataclass
class Writes:
    """`number`: the error. `first`: the first write that fails, from 0; None: none. `once`: the next ones
    succeed, because somebody freed space. A full disk still lets files be removed; a read-only one
    (`removals`) does not."""

    folder: Path
    number: int = 0
    first: int | None = None
    removals: bool = False
    once: bool = False
    seen: list[str] = field(default_factory=list)

    def on(self, event: str, arguments: tuple[Any, ...]) -> None:
        path = self._written(event, arguments)
        if path is None:
            return
        place = len(self.seen)
        self.seen.append(f"{event} {path}")
        if self.first is not None and (
            place == self.first or (place > self.first and not self.once)
        ):
            raise OSError(self.number, os.strerror(self.number), path)

    def _written(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int) or not (flags or 0) & _WRITES:
                return None
        elif event in _MAKES:
            path = arguments[_MAKES[event]]
        elif self.removals and event in _REMOVES:
            path = arguments[_REMOVES[event]]
        else:
            return None
        if isinstance(path, int):
            return None
        text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  must not resolve
        if event == "os.mkdir" and os.path.isdir(text):  # noqa: PTH112  nothing is written
            return None
        return text if text.startswith(f"{self.folder}/") else None


_now: list[Writes] = []


@cache
def _hook() -> None:
    """Once per process: a hook cannot be removed."""

    def on(event: str, arguments: tuple[Any, ...]) -> None:
        for writes in _now:
            writes.on(event, arguments)

    sys.addaudithook(on)


@contextmanager
def watched(writes: Writes) -> Iterator[Writes]:
    _hook()
    _now.append(writes)
    try:
        yield writes
    finally:
        _now.remove(writes)
