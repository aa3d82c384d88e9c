"""Tags: every process of a study carries STUDY_TAG in its environment, so it can be found again.

Linux only: reads /proc. Processes of other users cannot be read and never belong to a study.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from density_study.cluster.model.transport import ProcessId

TAG = "STUDY_TAG"
NODE = "STUDY_NODE"
TAG_FILE = "STUDY_TAG"
"""Name of the file that holds the tag of a directory."""

_PROC = Path("/proc")


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if it is gone or a zombie.

    A killed process whose first thread has exited reads as a zombie while its other threads still hold
    its files and ports, for seconds in a large JVM. It counts as gone when its last thread has exited.
    """
    stat = _read(pid, "stat")
    if not stat:
        return None
    state, threads, ticks = _state_threads_ticks(stat)
    return None if state in "ZX" and threads <= 1 else ticks


def child_start_ticks(pid: int) -> int:
    """The same for a child not yet waited for, which keeps its /proc entry after it has ended."""
    return _state_threads_ticks(_read(pid, "stat"))[2]


def pid_inside(pid: int) -> int | None:
    """The number of the process `pid` in its own PID namespace, below this one; None if it is in this one, or
    gone."""
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"NSpid:"):
            _, _, *nested = line.split()
            return int(nested[-1]) if nested else None
    return None


def is_alive(process: ProcessId) -> bool:
    """Whether this process still runs; a later one with its pid has another start time."""
    return start_ticks(process.pid) == process.start_ticks


def tagged(tag: str) -> list[ProcessId]:
    """Live processes whose tag is `tag` or lies below it ("<study>/<run>" finds all its builds)."""
    return [process for process, theirs in all_tagged() if is_below(theirs, tag)]


def short_hash(text: str) -> str:
    """12 hexadecimal digits of a tag, for names that cannot hold all of it."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def is_below(tag: str, above: str) -> bool:
    return tag == above or tag.startswith(above + "/")


def all_tagged() -> Iterator[tuple[ProcessId, str]]:
    """Live processes and their tags. The calling process is excluded: it may also carry a tag."""
    for entry in os.scandir(_PROC):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        pid = int(entry.name)
        before = start_ticks(pid)
        environment = _environment(pid)
        # Read twice: the pid may have passed to another process between the reads.
        if before is None or TAG not in environment or start_ticks(pid) != before:
            continue
        node = environment.get(NODE, "")
        name = os.fsdecode(_read(pid, "comm")).strip() or "?"
        yield ProcessId(node, name, pid, before), environment[TAG]


def _state_threads_ticks(stat: bytes) -> tuple[str, int, int]:
    fields = stat.rpartition(b")")[2].split()  # the name before may hold anything
    return fields[0].decode(), int(fields[17]), int(fields[19])


def _environment(pid: int) -> dict[str, str]:
    entries = map(os.fsdecode, _read(pid, "environ").split(b"\0"))
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def _read(pid: int, file: str) -> bytes:
    """A file of /proc/<pid>; empty if the process is gone or another user's."""
    try:
        return (_PROC / str(pid) / file).read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
