"""What a thread dump of HotSpot (`jcmd Thread.print -l`) says about a daemon that stalls, in one line.

Two things can hold a daemon: a lock that many threads wait for, whose owner the dump names, or one place in
the code where its handlers wait, such as a sync of the log. Idle handlers wait too, for calls: these places
are known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

FEWEST_WAITING = 2
"""A lock is named if at least this number of threads wait for it."""
_NAME = re.compile(r'^"(.{1,300}?)" ')
_AT = re.compile(r"^\s+at (?:[\w.]+@[\w.+-]+/)?([\w.$/<>-]+)\(")
_WAITS = re.compile(
    r"^\s+- (?:waiting to lock|parking to wait for) +<(0x[0-9a-f]+)> \(an? (?:object of type )?([\w.$]+)"
)
_OWNS = re.compile(r"^\s+- (?:locked )?<(0x[0-9a-f]+)> \(an? ")
_RELEASED = re.compile(r"^\s+- waiting on <(0x[0-9a-f]+)>")
"""Object.wait lets the lock go that the frame below took."""
_HANDLER = re.compile(r"handler[ =]\d|^DataXceiver|^IPC Server handler|^qtp")
_JDK = ("java.", "jdk.", "sun.", "javax.")
_IDLE = (
    "CallRunner",
    "CallQueueManager.take",
    "RpcHandler.getCallRunner",
    "RpcExecutor",
    "QueuedThreadPool",
)
"""In the name of a frame: the thread waits for work."""
_LOCKS = ("java.util.concurrent.locks.Reentrant", "java.util.concurrent.locks.Stamped")
"""Classes of locks that have an owner; threads park for conditions and queues, too."""


@dataclass(frozen=True)
class Thread:
    """`frames`: methods, the innermost first. waits_for: the address of a lock, if it waits for one."""

    name: str
    frames: tuple[str, ...]
    waits_for: str
    lock: str
    owns: frozenset[str]

    @property
    def place(self) -> str:
        """Class and method of the innermost frame that is not the JDK's; empty without one."""
        own = next((one for one in self.frames if not one.startswith(_JDK)), "")
        return ".".join(own.rsplit(".", 2)[-2:])

    @property
    def is_idle_handler(self) -> bool:
        return not self.place or any(word in self.place for word in _IDLE)


def words_of(dump: str) -> str:
    """Empty if the dump shows nothing that holds the daemon."""
    threads = list(threads_of(dump))
    return _of_lock(threads) or _of_handlers(threads)


def threads_of(dump: str) -> Iterator[Thread]:
    lines: list[str] = []
    for line in [*dump.splitlines(), '"']:
        if line.startswith('"'):
            if lines:
                yield _thread(lines)
            lines = [line]
        elif lines:
            lines.append(line)


def _thread(lines: Sequence[str]) -> Thread:
    name = _NAME.match(lines[0])
    waits = next((match for line in lines if (match := _WAITS.match(line))), None)
    blocked = any("State: BLOCKED" in line for line in lines[:3])
    has_owner = waits is not None and (blocked or waits.group(2).startswith(_LOCKS))
    return Thread(
        name=name.group(1) if name else "a thread",
        frames=tuple(_found(_AT, lines)),
        waits_for=waits.group(1) if waits and has_owner else "",
        lock=waits.group(2) if waits and has_owner else "",
        owns=frozenset(_found(_OWNS, lines)) - set(_found(_RELEASED, lines)),
    )


def _found(form: re.Pattern[str], lines: Iterable[str]) -> Iterator[str]:
    return (match.group(1) for line in lines if (match := form.match(line)))


def _of_lock(threads: Sequence[Thread]) -> str:
    waiting = Counter(one.waits_for for one in threads if one.waits_for)
    if not waiting or waiting.most_common(1)[0][1] < FEWEST_WAITING:
        return ""
    ((lock, count),) = waiting.most_common(1)
    first = next(one for one in threads if one.waits_for == lock)
    owner = next((one for one in threads if lock in one.owns and one.waits_for != lock), None)
    held = (
        f", which {owner.name} holds{_in(owner)}"
        if owner
        else ", whose owner the dump does not name"
    )
    return f"{count} threads wait{_in(first)} for a lock ({first.lock.rpartition('.')[2]}){held}"


def _of_handlers(threads: Iterable[Thread]) -> str:
    handlers = [one for one in threads if _HANDLER.search(one.name)]
    at = Counter(one.place for one in handlers if not one.is_idle_handler)
    if not at:
        return ""
    ((place, count),) = at.most_common(1)
    return f"{count} of {len(handlers)} handlers are in {place}"


def _in(thread: Thread) -> str:
    return f" in {thread.place}" if thread.place else ""
