"""Counters of the CPUs themselves, of all programs on a host (perf_event_open). Standard library only.

They need root, CAP_PERFMON or kernel.perf_event_paranoid of 0. Virtual machines often have none. What cannot
be counted is left out.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from density_study.cluster.model.dividing.cpus import cpus_in
from density_study.workloads.monitors.devices import HOST

HARDWARE, SOFTWARE = 0, 1
"""Types of events (uapi/linux/perf_event.h)."""
EVENTS: Mapping[str, int] = {"cycles": 0, "instructions": 1, "llc_lookups": 2, "llc_misses": 3}
"""Columns of devices.toml, and the kernel's numbers of these events."""
_SYSCALL = {"x86_64": 298, "aarch64": 241}
_SIZE = 64
"""Bytes of perf_event_attr in its first version."""
_ONLINE = Path("/sys/devices/system/cpu/online")
_WITH_TIMES = 3
"""Read with how long it was enabled and how long it ran: CPUs have few counters, and take turns."""
_ANYBODY, _NO_GROUP, _CLOSED_BY_EXEC = -1, -1, 8
Counters = Mapping[str, Mapping[str, float]]


class Hardware:
    """Counters of the hardware, which count from the making of this object on."""

    def __init__(self, kind: int = HARDWARE, events: Mapping[str, int] = EVENTS) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # one file per event and CPU
        self._files = {name: list(_opened(kind, number)) for name, number in events.items()}

    def read(self) -> Counters:
        found = {}
        for name, files in self._files.items():
            counts = [count for file in files if (count := _count(file)) is not None]
            if files and len(counts) == len(files):
                found[name] = sum(counts)
        return {HOST: found}


def _opened(kind: int, event: int) -> Iterator[int]:
    """The event's file on each CPU; none if it cannot be counted on all of them: a part is no number."""
    number = _SYSCALL.get(platform.machine())
    if number is None:
        return
    attributes = struct.pack("=IIQQQQQIIQ", kind, _SIZE, event, 0, 0, _WITH_TIMES, 0, 0, 0, 0)
    call = ctypes.CDLL(None, use_errno=True).syscall
    cpus = cpus_in(_ONLINE.read_text(encoding="ascii"))  # not the sampler's own: it may be pinned
    files = [
        call(number, attributes, _ANYBODY, cpu, _NO_GROUP, ctypes.c_ulong(_CLOSED_BY_EXEC))
        for cpu in cpus
    ]
    if min(files, default=-1) >= 0:
        yield from files
        return
    for file in files:
        with suppress(OSError):
            os.close(file)


def _count(file: int) -> float | None:
    """None if it never ran: other programs, as the kernel's watchdog, have the CPU's counters."""
    value, enabled, running = struct.unpack("=QQQ", os.read(file, 24))
    return value * enabled / running if running else None if enabled else 0.0
