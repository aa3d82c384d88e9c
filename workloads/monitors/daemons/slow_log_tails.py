"""The watcher of `slowlog`: reads on in the log of each RegionServer. It asks nothing of them."""

from __future__ import annotations

from density_study.workloads.monitors.daemons.events import event_row, round_row, title
from density_study.workloads.monitors.daemons.gc_logs import Tail
from density_study.workloads.monitors.daemons.jvms import daemons
from density_study.workloads.monitors.daemons.slow_log import NAME, json_of
from density_study.workloads.monitors.daemons.watcher import Order


class SlowLogTails:
    def __init__(self, order: Order) -> None:
        self.head = title(NAME, order.host) + "\n"
        self._tag = order.tag
        self._logs: list[tuple[str, Tail]] = []

    def begin(self) -> None:
        """OSError if a log cannot be read."""
        for jvm in daemons(self._tag):
            if jvm.log is not None and jvm.name.rpartition("/")[2].startswith("regionserver"):
                self._logs.append((jvm.name, Tail(jvm.log, jvm.log.stat().st_size)))

    def rows(self, epoch_s: float) -> str:
        found = [
            event_row(epoch_s, name, text)
            for name, log in self._logs
            for line in log.lines()
            if (text := json_of(line))
        ]
        return "".join((round_row(epoch_s), *found))

    last_rows = rows

    def end(self) -> None:
        """Nothing to do: it has changed nothing."""
