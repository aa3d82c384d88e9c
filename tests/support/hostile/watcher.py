"""What this process starts, writes, connects to and imports while it is watched, by Python's audit events."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
          "os.forkpty", "pty.spawn", "os.startfile")  # fmt: skip
TALKS = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate",
           "os.utime", "os.chmod", "os.chown", "shutil.rmtree", "shutil.copyfile", "shutil.move")  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OURS = str(Path(tempfile.gettempdir()) / "density-study-")
"""Temporary folders of a plan, for the host keys that ssh must read."""
_seen: list[str] | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is None:
        return
    if threading.current_thread().name == "heartbeat":  # of a run that another test holds
        return
    ours = bool(arguments) and _harmless(str(arguments[0]))
    if event in STARTS or event in TALKS or (event in CHANGES and not ours):
        _seen.append(f"{event} {arguments!r:.300}")
    elif event == "open":
        path, _, flags = arguments
        opened = isinstance(path, int)  # by an open that was seen
        if isinstance(flags, int) and flags & _WRITING and not opened and not _harmless(str(path)):
            _seen.append(f"{event} {arguments!r:.300}")
    elif event in ("import", "ctypes.dlopen") and "evil" in str(arguments[0]):
        _seen.append(f"{event} {arguments[0]}")


def _harmless(path: str) -> bool:
    return path == os.devnull or "__pycache__" in path or path.startswith(_OURS)


@contextmanager
def watching() -> Iterator[list[str]]:
    """Yields the list of what happens in the block. A hook cannot be removed: it sleeps otherwise."""
    global _seen
    if not getattr(sys, "_study_watcher", False):
        sys.addaudithook(_hook)
        sys._study_watcher = True  # type: ignore[attr-defined]
    _seen = found = []
    try:
        yield found
    finally:
        _seen = None
