"""What a YARN application used: the kernel's count of its containers, and Spark's count of its tasks.

Standard library only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ContainersUse:
    """core_s: user and system time. peak_kib: sum of the peaks of all processes, so an upper bound."""

    core_s: float
    peak_kib: int


@dataclass(frozen=True)
class TasksUse:
    """Tasks that succeeded. Bytes: input and shuffles read; shuffles written."""

    tasks: int
    core_s: float
    read_bytes: int
    written_bytes: int


def use_of(application: str, proc: Path = PROC) -> ContainersUse:
    """What the processes on this machine used whose command line names the application: those of its
    containers, since they began."""
    uses = []
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if application.encode() in (folder / "cmdline").read_bytes():
                uses.append(_process(folder))
    return ContainersUse(sum(use.core_s for use in uses), sum(use.peak_kib for use in uses))


def _process(folder: Path) -> ContainersUse:
    """proc(5): user and system time, its own and that of its ended children; peak of resident memory."""
    # the name, in parentheses, may hold spaces
    ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:15]
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    peak = status.get("VmHWM", "0 kB").split()[0]
    return ContainersUse(sum(map(int, ticks)) / _TICKS_PER_S, int(peak))


def tasks_of(events: Iterable[str]) -> TasksUse:
    """What the tasks used, from the lines of Spark's event log."""
    found = TasksUse(0, 0.0, 0, 0)
    for line in events:
        event = json.loads(line)
        metrics = event.get("Task Metrics")
        if event["Event"] != "SparkListenerTaskEnd" or not metrics or event["Task Info"]["Failed"]:
            continue
        shuffled = metrics["Shuffle Read Metrics"]
        found = TasksUse(
            found.tasks + 1,
            found.core_s + metrics["Executor CPU Time"] / 1e9,
            found.read_bytes
            + metrics["Input Metrics"]["Bytes Read"]
            + shuffled["Remote Bytes Read"]
            + shuffled["Local Bytes Read"],
            found.written_bytes + metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"],
        )
    return found
