"""`Journal`: intents and events of a run, one JSON object per line, each on disk before the next act."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.atomic import naming
from density_study.cluster.state.clock import REAL, Clock
from density_study.cluster.state.events import Event, Intent, RunOpened, event_of
from density_study.cluster.state.plain_file import NotPlainError, open_plain, too_large, why_unread

log = logging.getLogger(__name__)
JOURNAL = "journal.jsonl"
"""The journal's name in a run's folder."""
FORMAT = 1
MAX_BYTES = 2**29
MAX_LINE_BYTES = 2**21
"""A line may name all trials of a run, of which there are at most 10,000."""
_END_BYTES = 256
E = TypeVar("E", bound=Event)


@dataclass
class _Read:
    """What was read of a file so far, up to the end of a line. `end`: its last bytes."""

    file: tuple[int, int] | None = None
    size: int = 0
    end: bytes = b""
    lines: int = 0
    events: list[Event] = field(default_factory=list)

    def forget(self, file: tuple[int, int] | None) -> None:
        self.file, self.size, self.end, self.lines, self.events = file, 0, b"", 0, []


class Journal:
    """Append-only. Several processes may append: each line is one locked write and one fsync. `clock`: the
    time that its run goes by."""

    def __init__(self, path: Path, clock: Clock = REAL) -> None:
        self.path = path
        self.clock = clock
        self._read = _Read()
        self._reading = threading.Lock()

    def write(self, event: str, **fields: Any) -> None:
        """Append {"format", "t" (epoch seconds), "event", **fields}; on disk when this returns.

        For lines that nothing reads back; the others have a class: see `record` and `intend`.
        """
        line = json.dumps({"format": FORMAT, "t": self.clock.now_s(), "event": event, **fields})
        with naming(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = open_plain(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                _append(descriptor, _separator(descriptor) + line.encode() + b"\n")
            finally:
                os.close(descriptor)

    def record(self, event: Event) -> None:
        """Append an event that the program reads back."""
        self.write(event.event, **event.model_dump(mode="json", exclude_unset=True))

    def intend(self, act: str, tag: str, **fields: Any) -> None:
        """Append the intent of `act`, for the build `tag`. Call it before the act begins."""
        self.write("intent", act=act, tag=tag, **fields)

    def events(self, *kinds: type[E]) -> list[E]:
        """The events of these classes, in order; `events(Event)` returns all. StudyError names the first line
        that is not an event."""
        return [event for event in self._events() if isinstance(event, kinds)]

    def last(self, kind: type[E]) -> E | None:
        return next((event for event in reversed(self._events()) if isinstance(event, kind)), None)

    def since_opening(self, *kinds: type[E]) -> list[E]:
        """`events`, from the last opening of the run on."""
        events = self._events()
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
        """Every whole line as it is. A line that a crash tore is left out. StudyError names the first other
        line that this program does not write."""
        return (entry for _, entry in self._entries(self._content(_Read()), 0))

    def _events(self) -> Sequence[Event]:
        """All of them. Only what was appended since the last call is read and parsed: a run asks several
        times per trial, and the journal of 4,000 trials has 50 MiB."""
        with self._reading:
            content = self._content(self._read)
            whole = content[: content.rfind(b"\n") + 1]
            known = self._read
            known.events += self._parsed(whole, known.lines)
            known.lines += whole.count(b"\n")
            known.size += len(whole)
            known.end = (known.end + whole)[-_END_BYTES:]
            # what has no end yet may be a line that somebody is writing: read again next time
            return [*known.events, *self._parsed(content[len(whole) :], known.lines)]

    def _parsed(self, content: bytes, before: int) -> list[Event]:
        return [self._event(number, entry) for number, entry in self._entries(content, before)]

    def _content(self, known: _Read) -> bytes:
        """What follows what is known; nothing of that counts if the file is another one, or was rewritten."""
        try:
            with os.fdopen(open_plain(self.path), "rb") as file:
                status = os.fstat(file.fileno())
                file.seek(known.size - len(known.end))
                same = file.read(len(known.end)) == known.end
                if not same or (status.st_dev, status.st_ino) != known.file:
                    known.forget((status.st_dev, status.st_ino))
                    file.seek(0)
                content = file.read(MAX_BYTES + 1 - known.size)
        except (FileNotFoundError, NotADirectoryError):
            known.forget(None)
            return b""
        except NotPlainError:
            raise
        except OSError as error:
            raise StudyError(
                f"it cannot be read: {error.strerror}.", str(self.path), "make the file readable."
            ) from error
        if known.size + len(content) > MAX_BYTES:
            raise too_large(self.path, MAX_BYTES)
        return content

    def _entries(self, content: bytes, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The lines as in `read`, with their numbers. `before`: lines before them."""
        for number, line in enumerate(content.split(b"\n"), start=before + 1):
            if len(line) > MAX_LINE_BYTES:
                raise self._fault(number, f"the line has more than {MAX_LINE_BYTES:,} bytes")
            entry = self._entry(number, line) if line else None
            if entry is not None:
                yield number, entry

    def _entry(self, number: int, line: bytes) -> dict[str, Any] | None:
        """None for a line torn by a crash: the act that it would have announced never began."""
        try:
            entry = json.loads(line)
            if b"\\u" in line:  # half a character: nothing that shows it could write it
                entry = json.loads(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            if _is_torn(line, error):
                return None
            raise self._fault(number, "the line is not JSON") from error
        if not isinstance(entry, dict):
            raise self._fault(number, "the line is not an object")
        if entry.get("format") != FORMAT:
            raise StudyError(
                f"the line has format {repr(entry.get('format'))[:40]}; this version reads format {FORMAT}.",
                f"{self.path}:{number}",
                "open this run with the program version that wrote it.",
            )
        return entry

    def _event(self, number: int, entry: dict[str, Any]) -> Event:
        try:
            return event_of(entry)
        except ValueError as error:  # pydantic's, which names the keys
            raise self._fault(number, f"the line is not an event: {why_unread(error)}") from error

    def _fault(self, number: int, what: str) -> StudyError:
        return StudyError(
            f"{what}.",
            f"{self.path}:{number}",
            "the journal is damaged: restore it from a backup, or look at its last lines for what may still "
            "stand, and remove the folder.",
        )


def _append(descriptor: int, line: bytes) -> None:
    """The whole line on disk, or nothing of it: a part would not be read, and its act would begin."""
    before = os.fstat(descriptor).st_size
    try:
        written = 0
        while written < len(line):
            written += os.write(descriptor, line[written:])
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, before)
        raise


def _is_torn(line: bytes, error: Exception) -> bool:
    """Whether the line ends too early, and is a beginning of an object up to there."""
    if not isinstance(error, json.JSONDecodeError) or not line.startswith(b"{"):
        return False
    ends_in_text = error.msg.startswith(("Unterminated string", "Invalid \\"))
    return ends_in_text or len(error.doc) - error.pos < len("Infinity")


def _separator(descriptor: int) -> bytes:
    """A newline where a crash left the last line torn, so that the next one stays readable."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def run_folders(runs: Path, study: str | None = None) -> list[Path]:
    """Folders of the runs below `runs`, of one study or of all, in the order of their ids.

    A folder with a journal is a run. A link to a run's folder, or to its report, is not. A study's folder
    may be a link: runs are written through it.
    """
    journals = (runs / study).glob(f"*/{JOURNAL}") if study else runs.glob(f"*/*/{JOURNAL}")
    found = (path.parent for path in journals if _is_folder(path.parent))
    return sorted(found, key=lambda folder: (folder.name, folder))


def events_among(root: Path, *kinds: type[E]) -> list[E]:
    """The events of a run that is looked at among others: none, and a warning, if its journal is damaged."""
    try:
        return Journal(root / JOURNAL).events(*kinds)
    except StudyError as error:
        log.warning("passed over: %s", error)
        return []


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:  # it was removed meanwhile
        return False
