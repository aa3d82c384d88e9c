"""The watcher of `stalls`: asks each daemon once a second whether it moves, and has one that does not dump
its threads.

A stopped process cannot dump them: the kernel says that it is stopped, or that its threads wait for a device.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from density_study.workloads.monitors.daemons.attach import jcmd
from density_study.workloads.monitors.daemons.events import event_row, round_row, title
from density_study.workloads.monitors.daemons.jvms import daemons
from density_study.workloads.monitors.daemons.stalls import NAME, WANTED, Pulse, dump_name, text_of
from density_study.workloads.monitors.daemons.thread_dump import words_of
from density_study.workloads.monitors.daemons.watcher import Order
from density_study.workloads.monitors.jmx import JmxPoller

ANSWERED_WITHIN_S = 0.9
DUMP_COMMAND = "Thread.print -l"
MOST_DUMPS = 20
"""Dumps per trial: each one stops all threads of the daemon for some milliseconds."""
_WAITS_S = 2.0


@dataclass
class _Stall:
    """`number`: of its thread dump, 0 without one."""

    since_s: float
    what: str
    number: int = 0
    words: str = ""
    thread: threading.Thread | None = field(default=None, repr=False)


class StallWatch:
    def __init__(self, order: Order) -> None:
        self.head = title(NAME, order.host) + "\n"
        self._order = order
        self._pids: dict[str, int] = {}
        self._pulses: dict[str, Pulse] = {}
        self._open: dict[str, _Stall] = {}
        self._dumped = 0

    def begin(self) -> None:
        self._pids = {jvm.name: jvm.pid for jvm in daemons(self._order.tag)}
        mine = {
            name: address for name, address in self._order.daemons.items() if name in self._pids
        }
        self._poller = JmxPoller(mine, ANSWERED_WITHIN_S, self._order.ca_file, WANTED)

    def rows(self, epoch_s: float) -> str:
        ended = []
        for name, answer in self._poller.read().items():
            found = self._pulses.setdefault(name, Pulse()).stall(epoch_s, answer)
            if found is not None and name not in self._open:
                self._open[name] = self._begun(name, *found)
            elif found is None and name in self._open:
                ended.append(self._row(epoch_s, name, self._open.pop(name)))
        return "".join((round_row(epoch_s), *ended))

    def last_rows(self, epoch_s: float) -> str:
        """A stall that goes on ends here."""
        ended = [self._row(epoch_s, name, stall) for name, stall in self._open.items()]
        self._open = {}
        return "".join((round_row(epoch_s), *ended))

    def end(self) -> None:
        """Nothing to do: it has changed nothing."""

    def _begun(self, name: str, since_s: float, what: str) -> _Stall:
        stall = _Stall(since_s, what)
        if self._dumped < MOST_DUMPS:
            self._dumped += 1
            look = (name, stall, self._dumped)
            stall.thread = threading.Thread(target=self._look, args=look, daemon=True)
            stall.thread.start()
        return stall

    def _look(self, name: str, stall: _Stall, number: int) -> None:
        pid = self._pids[name]
        stall.words = of_kernel(Path("/proc") / str(pid))
        if stall.words == STOPPED:
            return
        path = self._order.output.with_name(dump_name(self._order.host, name, number))
        try:
            dump = jcmd(pid, DUMP_COMMAND)
            path.write_text(dump, encoding="utf-8")
        except OSError as error:
            stall.words = stall.words or f"it gave no thread dump ({error})"
        else:
            stall.number, stall.words = number, words_of(dump) or stall.words

    def _row(self, epoch_s: float, name: str, stall: _Stall) -> str:
        if stall.thread is not None:
            stall.thread.join(_WAITS_S)
        words = f"{stall.what}; {stall.words or 'its threads show nothing that holds it'}"
        return event_row(epoch_s, name, text_of(epoch_s - stall.since_s, stall.number, words))


STOPPED = "the process was stopped by a signal"


def of_kernel(process: Path) -> str:
    """What the kernel says of its threads, in words; empty if they may run. process: its folder of /proc."""
    states: Counter[str] = Counter()
    waits: Counter[str] = Counter()
    for task in (process / "task").glob("*"):
        with suppress(OSError):
            state = (task / "stat").read_text().rpartition(")")[2].split()[0]
            states[state] += 1
            if state == "D":
                waits[(task / "wchan").read_text().strip()] += 1
    if states["T"] and states["T"] >= sum(states.values()) - states["Z"]:
        return STOPPED
    if not states["D"]:
        return ""
    where = next((name for name, _ in waits.most_common() if name not in ("", "0")), "")
    return (
        f"{states['D']} threads wait in the kernel{f' ({where})' if where else ''}, as for a disk"
    )
