"""The watcher of `gc`: has each daemon's JVM log its pauses while it runs.

The JVMs learn of it by the attach protocol, so that they need no flag: each writes a log of its own,
which is read once a period, and removed at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from density_study.workloads.monitors.daemons.attach import jcmd
from density_study.workloads.monitors.daemons.events import event_row, round_row, title
from density_study.workloads.monitors.daemons.gc import DECORATIONS
from density_study.workloads.monitors.daemons.jvms import Jvm, daemons
from density_study.workloads.monitors.daemons.watcher import Order

WHAT = "gc=info,safepoint=info"


@dataclass
class Tail:
    """The whole lines that a file gets from `read_bytes` on."""

    path: Path
    read_bytes: int = 0

    def lines(self) -> Iterator[str]:
        """The lines that were written since the last call."""
        with suppress(OSError), self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < self.read_bytes:
                self.read_bytes = 0  # another file has its name now
            file.seek(self.read_bytes)
            whole = file.read().rpartition(b"\n")[0]
            if whole:
                self.read_bytes += len(whole) + 1
                yield from whole.decode(errors="replace").split("\n")


class GcLogs:
    def __init__(self, order: Order) -> None:
        self.head = title("gc", order.host) + "\n"
        self._tag = order.tag
        self._logs: list[tuple[Jvm, Tail]] = []

    def begin(self) -> None:
        for jvm in daemons(self._tag):
            log = Tail(jvm.own_file("gc.log"))
            self._logs.append((jvm, log))
            jcmd(jvm.pid, f"VM.log output={log.path} output_options=filecount=0 what={WHAT} "
                          f"decorators={DECORATIONS}")  # fmt: skip

    def rows(self, epoch_s: float) -> str:
        found = [
            event_row(epoch_s, jvm.name, line) for jvm, log in self._logs for line in log.lines()
        ]
        return "".join((round_row(epoch_s), *found))

    last_rows = rows

    def end(self) -> None:
        for jvm, log in self._logs:
            with suppress(OSError):  # it may have been killed
                jcmd(jvm.pid, f"VM.log output={log.path} what=all=off")
            log.path.unlink(missing_ok=True)
