"""Whether the study's daemons and clients are stopped or have ended, and what daemons write to their logs.

The phrases of devices.toml that a log's new lines hold are counted: a full disk, a limit or a lost session is
an error in a log, and a counter nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from density_study.workloads.monitors.daemons.jvms import Jvm, among
from density_study.workloads.monitors.devices import declarations

MOST_BYTES = 2**18
"""Limit of what is searched of a log's new text in a round: more counts only as size."""
_STOPPED, _ENDED = b"Tt", b"ZX"


class DaemonStates:
    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc, self._followed = proc, dict[str, _Followed]()
        self._of: Mapping[int, str] = {}

    def read(self, by_pid: Mapping[int, str]) -> Mapping[str, Mapping[str, float]]:
        """Values of each daemon, by <node>/<daemon>. by_pid: the node of each process. A daemon that has
        ended is still reported until another one has its name; a client is not, because its work is done."""
        if by_pid is not self._of:
            self._of = by_pid
            for jvm in among(by_pid.items(), self._proc):
                if jvm.name not in self._followed or self._followed[jvm.name].jvm.pid != jvm.pid:
                    self._followed[jvm.name] = _Followed(jvm)
        found = {}
        for name, one in list(self._followed.items()):
            state = self._state(one.jvm.pid)
            if state in _ENDED and one.jvm.log is None:
                del self._followed[name]
                continue
            found[name] = {"stopped": float(state in _STOPPED), **one.logged()}
            if one.jvm.log is not None:
                found[name]["ended"] = float(state in _ENDED)
        return found

    def _state(self, pid: int) -> bytes:
        """A letter as in proc(5). A process that is gone is dead."""
        with suppress(OSError, IndexError):
            stat = (self._proc / str(pid) / "stat").read_bytes()
            return stat.rpartition(b")")[2].split()[0]
        return _ENDED[-1:]


@dataclass
class _Followed:
    jvm: Jvm
    size_bytes: int | None = None
    lines: Counter[str] = field(default_factory=Counter)

    def logged(self) -> dict[str, float]:
        """Size of the log, and how many lines with each column's phrases it got since the first round;
        nothing of a log that could never be read."""
        if self.jvm.log is None:
            return {}
        with suppress(OSError), self.jvm.log.open("rb") as log:
            now = log.seek(0, 2)
            before = now if self.size_bytes is None else self.size_bytes
            log.seek(max(0 if now < before else before, now - MOST_BYTES))  # it may be a new file
            self.lines.update(
                str(match.lastgroup) for match in _phrases().finditer(log.read(MOST_BYTES))
            )
            self.size_bytes = now
        if self.size_bytes is None:
            return {}
        counts = {column: float(self.lines[column]) for column in _phrases().groupindex}
        return {**counts, "log_bytes": self.size_bytes}


@cache
def _phrases() -> re.Pattern[bytes]:
    """A group for each column."""
    return re.compile(
        b"|".join(
            b"(?P<%s>%s)"
            % (one["column"].encode(), b"|".join(re.escape(text.encode()) for text in one["texts"]))
            for one in declarations()["limits"]["phrases"]
        )
    )
