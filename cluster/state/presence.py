"""Presence: a process that works on a run holds a kernel lock (flock) and emits a heartbeat.

Each such process holds <run>/owner.lock shared; the kernel releases it when the process ends, however it
ends. The heartbeat is the modification time of that file. A process that reopens a run, or removes what
it left, holds <run>/opening.lock exclusively, so that only one does so at a time.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.plain_file import open_plain
from density_study.cluster.state.runtime import keep_from_sweeps

LOCK = "owner.lock"
OPENING = "opening.lock"
BEAT_EVERY_S = 5.0
_DYING_S = 2.0
"""A process that was just killed keeps its locks for a moment."""
_CLOCKS_DIFFER_S = 60.0
"""For hosts that share a folder of runs."""

_staying: list[ExitStack] = []


@contextmanager
def present(root: Path) -> Iterator[None]:
    """Hold the lock of the run in `root`, and emit heartbeats."""
    with _opened(root / LOCK) as descriptor:
        # Waits a moment at most: a check releases the lock at once.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(BEAT_EVERY_S):
                with suppress(OSError, StudyError):  # a disk that fails for a moment; the next beat
                    os.utime(descriptor)
                    keep_from_sweeps()

        os.utime(descriptor)
        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def stay(root: Path) -> ExitStack:
    """Be present until the stack is closed, or this process ends."""
    stack = ExitStack()
    stack.enter_context(present(root))
    _staying.append(stack)  # an unreferenced stack would be closed at once
    return stack


@contextmanager
def alone(root: Path) -> Iterator[bool]:
    """Whether no process is present at the run in `root`. No other process can open or remove it meanwhile.

    Also False if another process is doing so at this moment, or if this user lacks permission.
    """
    if not is_writable(root):
        yield False
        return
    with _opened(root / OPENING) as descriptor:
        deadline = time.monotonic() + _DYING_S
        while not (free := _try_lock(descriptor) and is_free(root) is True):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        yield free


def is_writable(root: Path) -> bool:
    """Whether this user may change the folder of the run."""
    return os.access(root, os.W_OK | os.X_OK)


def why_not_alone(root: Path) -> str:
    """The reason why `alone` yielded False, as a clause."""
    if is_writable(root):
        return "a process is still working on it"
    return "its folder is read-only for this user"


def is_free(root: Path) -> bool | None:
    """Whether no process is present at the run in `root`. None if this user cannot determine it."""
    try:
        with os.fdopen(open_plain(root / LOCK), "rb") as file:
            return _try_lock(file.fileno())
    except FileNotFoundError:
        return True if root.is_dir() else None
    except OSError:
        return None


def silent_s(root: Path) -> float | None:
    """Seconds since the run in `root` showed a sign of life: a heartbeat or a line of its journal.

    None if it is unknown: there is no sign, or it is from a time to come, because a clock was set.
    """
    signs = [root / LOCK, root / "journal.jsonl"]
    newest = max((path.lstat().st_mtime for path in signs if path.exists()), default=None)
    if newest is None or newest - time.time() > _CLOCKS_DIFFER_S:
        return None
    return max(0.0, time.time() - newest)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    # Not inherited by any child: a daemon must not hold the lock of a dead owner.
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
