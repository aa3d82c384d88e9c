"""`Journal`: intents and events of a run, one JSON object per line, each on disk before the next act."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import Event, Intent, RunOpened, event_of

JOURNAL = "journal.jsonl"
"""The journal's name in a run's folder."""
FORMAT = 1
E = TypeVar("E", bound=Event)


class Journal:
    """Append-only. Several processes may append: each line is one locked write and one fsync."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, event: str, **fields: Any) -> None:
        """Append {"format", "t" (epoch seconds), "event", **fields}; on disk when this returns.

        For lines that nothing reads back; the others have a class: see `record` and `intend`.
        """
        line = json.dumps({"format": FORMAT, "t": time.time(), "event": event, **fields})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, _separator(descriptor) + line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def record(self, event: Event) -> None:
        """Append an event that the program reads back."""
        self.write(event.event, **event.model_dump(mode="json", exclude_unset=True))

    def intend(self, act: str, tag: str, **fields: Any) -> None:
        """Append the intent of `act`, for the build `tag`. Call it before the act begins."""
        self.write("intent", act=act, tag=tag, **fields)

    def events(self, *kinds: type[E]) -> list[E]:
        """The events of these classes, in order; `events(Event)` returns all."""
        return [event for line in self.read() if isinstance(event := event_of(line), kinds)]

    def last(self, kind: type[E]) -> E | None:
        return next(reversed(self.events(kind)), None)

    def since_opening(self, *kinds: type[E]) -> list[E]:
        """`events`, from the last opening of the run on."""
        events = self.events(Event)
        openings = [n for n, event in enumerate(events) if isinstance(event, RunOpened)]
        return [event for event in events[max(openings, default=0) :] if isinstance(event, kinds)]

    def intents(self, act: str = "", tag: str = "") -> list[Intent]:
        """The intents of `act` for the build `tag`, in order; empty: of every act, for every build."""
        return [
            intent
            for intent in self.events(Intent)
            if act in ("", intent.act) and tag in ("", intent.tag)
        ]

    def read(self) -> Iterator[dict[str, Any]]:
        """Every whole line as it is. A torn last line (a crash during a write) is left out."""
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
                    f"the line has format {entry.get('format')!r}; this version reads format {FORMAT}.",
                    f"{self.path}:{number}",
                    "open this run with the program version that wrote it.",
                )
            yield entry


def _separator(descriptor: int) -> bytes:
    """A newline where a crash left the last line torn, so that the next one stays readable."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def run_folders(runs: Path, study: str | None = None) -> list[Path]:
    """Folders of the runs below `runs`, of one study or of all, in the order of their ids.

    A folder with a journal is a run. A link to a run's folder, or to its report, is not. A study's folder
    may be a link: runs are written there, too.
    """
    journals = (runs / study).glob(f"*/{JOURNAL}") if study else runs.glob(f"*/*/{JOURNAL}")
    found = (path.parent for path in journals if not path.parent.is_symlink())
    return sorted(found, key=lambda folder: (folder.name, folder))
