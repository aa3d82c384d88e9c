"""Counters of a machine from /proc and /sys: pressure, disks, TCP, cards, packets, memory. Linux only.

Each function takes the folder to read from and returns columns of devices.toml by source. What the kernel
does not show is left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path

from density_study.cluster.machine.describe import mounts
from density_study.cluster.machine.softnet import by_cpu
from density_study.workloads.monitors.devices import HOST
from density_study.workloads.monitors.tagged_nodes import TaggedNodes

PROC = Path("/proc")
_NO_DISKS = ("loop", "ram", "zram", "sr", "fd")
# Places in a line of /proc/diskstats, counted from the device's name (kernel: admin-guide/iostats).
_DISK_FIELDS = {
    "reads": 1,
    "read_ms": 4,
    "writes": 5,
    "write_ms": 8,
    "busy_ms": 10,
    "queued_ms": 11,
}
_TCP = {"sent_segments": "OutSegs", "retransmitted": "RetransSegs"}
_TCP_EXT = {
    "timeouts": "TCPTimeouts",
    "listen_overflows": "ListenOverflows",
    "pruned": "PruneCalled",
}
_SOFTIRQ = 6
"""Place in a line of /proc/stat, after the CPU's name."""
_TICKS_S = os.sysconf("SC_CLK_TCK")
_OF_KERNEL = "memory_bytes"
"""A counter that is the same in every network namespace."""
_SOCKETS = {"in_use": "inuse", "time_wait": "tw"}
_PAGE = os.sysconf("SC_PAGE_SIZE")
_RUN_DELAY = 7
"""Place in a line of /proc/schedstat, after the CPU's name (kernel: scheduler/sched-stats)."""
# Columns from /proc/vmstat: sums of counters whose names begin so, times a unit.
_MEMORY = {
    "swapped_bytes": (("pswpin", "pswpout"), _PAGE),
    "major_faults": (("pgmajfault",), 1),
    "direct_reclaims": (("allocstall",), 1),
    "huge_page_stalls": (("compact_stall",), 1),
    "numa_misses": (("numa_miss",), 1),
    "dirty_bytes": (("nr_dirty",), _PAGE),
    "writeback_bytes": (("nr_writeback",), _PAGE),
}
_NO_COUNTERS = ("nr_dirty_threshold", "nr_dirty_background_threshold", "nr_writeback_temp")
_DROPS = ("rx_dropped", "tx_dropped", "rx_missed_errors", "rx_fifo_errors")
Counters = Mapping[str, Mapping[str, float]]


def pressure(proc: Path = PROC) -> Counters:
    """Microseconds in which some, or all, tasks waited, and how long tasks waited in run queues."""
    found = dict(_stalls(proc))
    with suppress(OSError, IndexError):
        lines = (proc / "schedstat").read_text().splitlines()
        waits_ns = [float(line.split()[1 + _RUN_DELAY]) for line in lines if line.startswith("cpu")]
        found["run_delay_ms"] = sum(waits_ns) / 1e6
    return {HOST: found}


def _stalls(proc: Path) -> Iterator[tuple[str, float]]:
    for resource in ("cpu", "io", "memory"):
        with suppress(
            OSError
        ):  # a kernel without pressure stall information, or one that has it off
            for line in (proc / "pressure" / resource).read_text().splitlines():
                extent, _, total = line.partition(" ")[0], *line.rpartition("total=")[1:]
                yield f"{resource}_{extent}_us", float(total)


def disks(proc: Path = PROC) -> Counters:
    """Cumulative requests and milliseconds of each whole disk that was ever used, and the free space of its
    fullest file system."""
    found = {}
    whole = {path.name for path in (proc.parent / "sys" / "block").iterdir()}
    free_percent = _free(proc, whole)
    for line in (proc / "diskstats").read_text().splitlines():
        name, *fields = line.split()[2:]
        if name not in whole or name.startswith(_NO_DISKS):
            continue
        counters = {column: float(fields[place - 1]) for column, place in _DISK_FIELDS.items()}
        if counters["reads"] + counters["writes"]:
            more = {"free_percent": free_percent[name]} if name in free_percent else {}
            found[name.replace("!", "-")] = {**counters, **more}
    return found


def _free(proc: Path, whole: Set[str]) -> Mapping[str, float]:
    """For each of these disks, the free percentage of its fullest file system that can be written to."""
    found: dict[str, float] = {}
    with suppress(OSError):
        for device, folder, _, options in mounts(proc / "self" / "mounts"):
            if not device.startswith("/dev/") or "ro" in options.split(","):
                continue
            with suppress(OSError):
                name = Path(device).resolve().name
                disk = name if name in whole else _parent(proc, name)
                space = os.statvfs(folder)
                free = 100 * space.f_bavail / max(space.f_blocks, 1)
                found[disk] = min(free, found.get(disk, free))
    return found


def _parent(proc: Path, partition: str) -> str:
    return (proc.parent / "sys" / "class" / "block" / partition).resolve().parent.name


class Sockets:
    """TCP's counters of this network namespace and of those of the study's nodes, and cards. tag: that of the
    build."""

    def __init__(self, tag: str, proc: Path = PROC) -> None:
        self._nodes, self._proc = TaggedNodes(tag), proc

    def read(self) -> Counters:
        return {
            HOST: tcp(self._proc),
            **dict(cards(self._proc)),
            **self.of_nodes(self._nodes.by_pid()),
        }

    def of_nodes(self, by_pid: Mapping[int, str]) -> Counters:
        """For each network namespace that is not this one: by its node, or `nodes` if several share it."""
        own = (self._proc / "self" / "ns" / "net").readlink()
        found: dict[Path, tuple[set[str], dict[str, float]]] = {}
        for pid, node in by_pid.items():
            with suppress(OSError):  # it has ended
                folder = self._proc / str(pid)
                namespace = (folder / "ns" / "net").readlink()
                if namespace != own:
                    if namespace not in found:
                        found[namespace] = set(), tcp(folder)
                    found[namespace][0].add(node)
        return {
            next(iter(nodes)) if len(nodes) == 1 else "nodes": {
                column: value for column, value in counters.items() if column != _OF_KERNEL
            }
            for nodes, counters in found.values()
        }


def tcp(proc: Path) -> dict[str, float]:
    """proc: /proc, or a process's folder in it, which shows the network that the process is in."""
    found: dict[str, float] = {}
    for file, protocol, names in (("snmp", "Tcp", _TCP), ("netstat", "TcpExt", _TCP_EXT)):
        counters = _pairs_of_lines(proc / "net" / file, protocol)
        found |= {column: counters[name] for column, name in names.items() if name in counters}
    with suppress(OSError):
        for line in (proc / "net" / "sockstat").read_text().splitlines():
            if line.startswith("TCP: "):
                words = line.split()[1:]
                counts = dict(zip(words[::2], map(float, words[1::2]), strict=True))
                found |= {column: counts[name] for column, name in _SOCKETS.items()}
                found[_OF_KERNEL] = counts["mem"] * _PAGE
    return found


def cards(proc: Path) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yields for each card (not for bridges and pairs of interfaces) what it dropped, and if its speed is
    known how long its bytes take on the link."""
    for card in sorted((proc.parent / "sys" / "class" / "net").glob("*/device")):
        counters = card.parent / "statistics"
        found = {}
        with suppress(OSError, ValueError):
            found["card_drops"] = sum(_number(counters / name) for name in _DROPS)
            megabits_s = _number(card.parent / "speed")
            if megabits_s > 0:
                for column, name in (("receive_ms", "rx_bytes"), ("send_ms", "tx_bytes")):
                    found[column] = _number(counters / name) * 8 / megabits_s / 1e3
        if found:
            yield card.parent.name, found


def _number(path: Path) -> float:
    return float(path.read_text())


def memory(proc: Path = PROC) -> Mapping[str, float]:
    """Columns of the device `kernel` but its clock's."""
    counters = dict(line.split() for line in (proc / "vmstat").read_text().splitlines())
    found = {}
    for column, (names, unit) in _MEMORY.items():
        values = [
            float(value)
            for name, value in counters.items()
            if name.startswith(names) and name not in _NO_COUNTERS
        ]
        if values:
            found[column] = sum(values) * unit
    return found


class Kernel:
    """Reads `memory`, and by how much the clock was set since the last time: the difference to a clock that
    nobody sets."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._offset_s = time.time() - time.monotonic()

    def read(self) -> Counters:
        offset_s = time.time() - time.monotonic()
        step_ms = abs(offset_s - self._offset_s) * 1e3
        self._offset_s = offset_s
        return {HOST: {**memory(self._proc), "clock_step_ms": step_ms}}


def network(proc: Path = PROC) -> Counters:
    """For each CPU: packets that it processed, and milliseconds in softirq, of which packets are the most."""
    spent: dict[int, float] = {}
    for line in (proc / "stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            spent[int(name.removeprefix("cpu"))] = float(fields[_SOFTIRQ]) * 1e3 / _TICKS_S
    packets = by_cpu(proc / "net" / "softnet_stat")
    return {
        f"cpu{cpu}": {**packets.get(cpu, {}), "softirq_ms": spent_ms}
        for cpu, spent_ms in spent.items()
    }


def _pairs_of_lines(path: Path, protocol: str) -> dict[str, float]:
    """A line of names, then one of values, each after `protocol:`."""
    lines = [line.split()[1:] for line in path.read_text().splitlines()
             if line.startswith(f"{protocol}: ")]  # fmt: skip
    return dict(zip(lines[0], map(float, lines[1]), strict=True)) if len(lines) == 2 else {}
