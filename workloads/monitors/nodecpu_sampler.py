"""The sampler of `workloads.monitors.nodecpu`: reads /proc once per period, and writes one row per node.

    python -m density_study.workloads.monitors.nodecpu_sampler --host H --period 1 --output FILE --tag TAG

Counts processes with STUDY_TAG equal to TAG or below it (`TAG/...`) in their environment, by STUDY_NODE, and
their descendants, which may have another environment. Linux only. Ends on TERM or INT. `cpu_account`
describes how time of short-lived processes is counted, and the error.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from density_study.workloads.monitors.cpu_account import CpuAccount, Reading, Ticks
from density_study.workloads.monitors.nodecpu import HEADER, title
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

_SETTLED_S = 5.0  # a process of this age has called exec: its environment is final
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Processes:
    """The tagged processes of this machine. Caches the node of each process, so that a round needs one
    short read per tagged process and none for the others."""

    def __init__(self, tag: str, proc: str = "/proc") -> None:
        self._tag, self._proc = tag, proc
        self._nodes: dict[int, tuple[int, str]] = {}  # pid: start time, node
        self._others: set[int] = set()

    def readings(self) -> Iterator[Reading]:
        """One round. Skips processes that end meanwhile."""
        with os.scandir(self._proc) as entries:
            pids = {int(entry.name) for entry in entries if entry.name.isdigit()}
        self._forget(pids)
        uptime_ticks = time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_PER_S
        found = [self._reading(pid) for pid in sorted(pids - self._others)]
        # parents first, as a child inherits its node; after the last pid the kernel starts from the lowest
        # again, and then the child's pid is below its parent's
        for reading in sorted(filter(None, found), key=lambda one: one.identity[1]):
            if node := self._node(reading, uptime_ticks):
                yield replace(reading, node=node)

    def _forget(self, alive: set[int]) -> None:
        self._others &= alive
        for pid in self._nodes.keys() - alive:
            del self._nodes[pid]

    def _node(self, reading: Reading, uptime_ticks: float) -> str | None:
        pid, start_ticks = reading.identity
        settled = uptime_ticks - start_ticks > _SETTLED_S * _TICKS_PER_S
        known_start_ticks, known = self._nodes.get(pid, (-1, ""))
        if known_start_ticks == start_ticks and settled:
            return known
        inherited = self._nodes.get(reading.parent_pid, (0, ""))[1]
        node = self._own_node(pid) or (known if known_start_ticks == start_ticks else inherited)
        if node:
            self._nodes[pid] = (start_ticks, node)
        elif settled:
            self._others.add(pid)
        return node or None

    def _own_node(self, pid: int) -> str | None:
        """STUDY_NODE of a process with our tag."""
        try:
            environment = _read(f"{self._proc}/{pid}/environ")
        except OSError:
            return None
        variables = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0"))
        tag = os.fsdecode(variables.get(b"STUDY_TAG", b""))
        if tag != self._tag and not tag.startswith(self._tag + "/"):
            return None
        return os.fsdecode(variables.get(b"STUDY_NODE", b"")) or None

    def _reading(self, pid: int) -> Reading | None:
        """A process whose node is not known yet; None if it has ended. Fields as in proc(5), counted from the
        one after the name."""
        try:
            fields = _read(f"{self._proc}/{pid}/stat").rpartition(b")")[2].split()
        except OSError:
            return None
        return Reading(
            identity=(pid, int(fields[19])),
            node="",
            parent_pid=int(fields[1]),
            own=Ticks(int(fields[11]), int(fields[12])),
            children=Ticks(int(fields[13]), int(fields[14])),
        )


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(descriptor, 65536)]
        while len(parts[-1]) == 65536:
            parts.append(os.read(descriptor, 65536))
    finally:
        os.close(descriptor)
    return b"".join(parts)


def sample(processes: Processes, account: CpuAccount, file: TextIO) -> None:
    """One round: writes the rows of all nodes at once, so that a reader never sees half a round."""
    epoch_s = time.time()
    account.add(processes.readings())
    file.write(
        "".join(
            f"{epoch_s:.3f},{node},{ticks.user},{ticks.system},{account.processes.get(node, 0)}\n"
            for node, ticks in sorted(account.total.items())
        )
    )
    file.flush()


def run(host: str, period_s: float, output: Path, tag: str) -> None:
    """Sample until TERM or INT at multiples of the period of the wall clock, without drift. A late round
    leaves a gap and is not made up for."""
    hold_stop()
    processes, account = Processes(tag), CpuAccount()
    with output.open("w", encoding="utf-8") as file:
        file.write(title(host, _TICKS_PER_S, os.cpu_count() or 1) + "\n" + HEADER + "\n")
        sample(processes, account, file)
        while not stopped_within(until_next(period_s)):
            sample(processes, account, file)


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of tagged processes, by node.")
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--tag", required=True)
    arguments = parser.parse_args()
    run(arguments.host, arguments.period, arguments.output, arguments.tag)


if __name__ == "__main__":
    main()
