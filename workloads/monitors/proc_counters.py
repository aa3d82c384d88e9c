"""Counters of a machine from /proc: pressure stall information, block devices, TCP, packets. Linux only.

Each function takes the folder to read from and returns columns of devices.toml by source. What the kernel
does not show is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from density_study.cluster.machine.softnet import by_cpu
from density_study.workloads.monitors.devices import HOST

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
_TCP_EXT = {"timeouts": "TCPTimeouts", "listen_overflows": "ListenOverflows"}
_SOFTIRQ = 6
"""Place in a line of /proc/stat, after the CPU's name."""
_TICKS_S = os.sysconf("SC_CLK_TCK")
_SOCKETS = {"in_use": "inuse", "time_wait": "tw"}


def pressure(proc: Path = PROC) -> Mapping[str, Mapping[str, float]]:
    """Microseconds in which some, or all, tasks waited. OSError if the kernel has no PSI."""
    return {HOST: dict(_stalls(proc))}


def _stalls(proc: Path) -> Iterator[tuple[str, float]]:
    for resource in ("cpu", "io", "memory"):
        for line in (proc / "pressure" / resource).read_text().splitlines():
            extent, _, total = line.partition(" ")[0], *line.rpartition("total=")[1:]
            yield f"{resource}_{extent}_us", float(total)


def disks(proc: Path = PROC) -> Mapping[str, Mapping[str, float]]:
    """Cumulative requests and milliseconds of each whole disk that was ever used."""
    found = {}
    whole = {path.name for path in (proc.parent / "sys" / "block").iterdir()}
    for line in (proc / "diskstats").read_text().splitlines():
        name, *fields = line.split()[2:]
        if name not in whole or name.startswith(_NO_DISKS):
            continue
        counters = {column: float(fields[place - 1]) for column, place in _DISK_FIELDS.items()}
        if counters["reads"] + counters["writes"]:
            found[name.replace("!", "-")] = counters
    return found


def sockets(proc: Path = PROC) -> Mapping[str, Mapping[str, float]]:
    """TCP's counters of this network namespace."""
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
    return {HOST: found}


def network(proc: Path = PROC) -> Mapping[str, Mapping[str, float]]:
    """Of each CPU: packets that it processed, and milliseconds in softirq, of which packets are the most."""
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
