"""What each CPU did with received packets, by the kernel (/proc/net/softnet_stat). Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SOFTNET = Path("/proc/net/softnet_stat")
_COLUMNS = {"packets": 0, "dropped": 1, "squeezed": 2, "steered": 9}
_CPU = 12
"""Column of the CPU's number, in kernels from 5.10 on; before, lines are counted."""


def by_cpu(file: Path = SOFTNET) -> Mapping[int, Mapping[str, int]]:
    """Counters since the machine started: packets processed; dropped from a full queue; turns that ended with
    packets left; times that another CPU woke it to steer packets to it."""
    found = {}
    for place, line in enumerate(file.read_text().splitlines()):
        row = [int(word, 16) for word in line.split()]
        cpu = row[_CPU] if len(row) > _CPU else place
        found[cpu] = {name: row[column] for name, column in _COLUMNS.items() if column < len(row)}
    return found
