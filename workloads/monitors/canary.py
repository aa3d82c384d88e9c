"""The canary: a fixed piece of work, timed. It shows how fast the machine itself is.

A hidden neighbour of a virtual machine, a lower clock frequency or a throttled CPU slow down every program,
and no counter of the guest shows it. The same work then takes longer.

Around the trial, while the cluster rests, blocks of rounds follow each other without a pause: longer than a
scheduler's time slice, which also shows a stolen core. Within the trial it is a part of a round each period,
for the chart: there the trial's own load slows it down.

Around the trial it also times two things that a hypervisor can slow down while computation stays as fast.
Wake-ups: a byte to a process that sleeps on another core, and back, as requests of a store are handed over.
The first touch of memory: a hypervisor that takes back free pages must find them again, for the page cache
of a write and for a young heap.

One for each host and guest. It is not pinned, except for a wake-up, to two cores that change from block to
block: the kernel gives it an idle core, as it does a daemon's thread. On a fixed core it would disturb the
node that has this core, in some variants another one than in others.

Its file is that of a device (`workloads.monitors.devices`), and its program `device_sampler`.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from density_study.workloads.monitors.devices import HOST, devices, header, title
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

NAME = "canary"
ITERATIONS = 2000
"""For a key derivation: about half a millisecond in registers and the first cache."""
LEAST_BUFFER_BYTES, PART_BYTES = 32 * 2**20, 2**20
"""Each round copies the next part of a buffer that no cache holds."""
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
ROUNDS, WAKES = 8, 50
"""Rounds in a block, which take several milliseconds, and wake-ups there and back, which take two."""
TOUCHED_BYTES = 4 * 2**20
"""Touched by a block for the first time, and kept until the burst is over: the next must not get the same."""
BLOCKS, REST_S = 20, 0.005
"""Blocks in a burst, and the rest between them, in seconds."""
WITHIN = 0.4
"""Share of a round that is done within the trial, with cold caches: a whole one cost 0.16 % of a core."""
START_S = 0.2
"""Time for the other monitors of the machine to start in."""
_WORDS = b"density-study-01"


def buffer_bytes(caches: Path = CACHES) -> int:
    """Twice the largest cache of a core, in whole parts, but at most a 64th of the machine's memory: a guest
    may be shown the cache of its whole host."""
    kib = [int(size.read_text().rstrip("K\n")) for size in caches.glob("index*/size")]
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = min(2 * max(kib, default=0) * 2**10, memory_bytes // 64)
    return max(LEAST_BUFFER_BYTES, found // PART_BYTES * PART_BYTES)


class Canary:
    """The work and its buffers."""

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(b"\1") * buffer_bytes())
        self._copy = bytearray(PART_BYTES)
        self._at = 0
        self.times_us(1)  # loads the library

    def times_us(self, rounds: int, share: float = 1.0) -> tuple[float, float]:
        """Mean time of the computation, and of the copy, over this number of rounds, one after the other.
        share: how much of a round is done; the times are those of a whole one."""
        compute_ns = memory_ns = 0
        iterations, size = round(share * ITERATIONS), round(share * PART_BYTES)
        for _ in range(rounds):
            begun_ns = time.perf_counter_ns()
            hashlib.pbkdf2_hmac("sha256", _WORDS, _WORDS, iterations)
            between_ns = time.perf_counter_ns()
            self._copy[:size] = self._buffer[self._at : self._at + size]
            memory_ns += time.perf_counter_ns() - between_ns
            compute_ns += between_ns - begun_ns
            self._at = (self._at + PART_BYTES) % len(self._buffer)
        return compute_ns / rounds / share / 1e3, memory_ns / rounds / share / 1e3


class Wakes:
    """A process that sends each byte back."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._peer = os.fork()
        if not self._peer:
            self._ours.close()
            while byte := theirs.recv(1):
                theirs.send(byte)
            os._exit(0)
        theirs.close()
        self._cores = os.sched_getaffinity(0)
        several = sorted(self._cores)
        apart = max(1, len(several) // 3)  # the next, or half on, may be a thread of the same core
        self._pairs = cycle(zip(several, several[apart:] + several[:apart], strict=True))

    def time_us(self) -> float | None:
        """Mean time to wake up the process on another core and to be woken up. None: on a single core."""
        if len(self._cores) == 1:
            return None
        for pid, core in zip((0, self._peer), next(self._pairs), strict=True):
            os.sched_setaffinity(pid, {core})
        try:
            begun_ns = time.perf_counter_ns()
            for _ in range(WAKES):
                self._ours.send(b"\1")
                self._ours.recv(1)
            return (time.perf_counter_ns() - begun_ns) / WAKES / 1e3
        finally:
            os.sched_setaffinity(0, self._cores)


def run(host: str, period_s: float, output: Path) -> None:
    """Sample until TERM or INT. A reader sees a burst at once: the trial begins after the first."""
    hold_stop()
    wakes, canary = Wakes(), Canary()
    time.sleep(START_S)
    with output.open("w", encoding="utf-8") as file:
        file.write(f"{title(host, NAME)}\n{header(devices()[NAME].columns)}\n")
        file.write("".join(_burst(canary, wakes)))
        file.flush()
        while not stopped_within(until_next(period_s)):
            file.write(_row(*canary.times_us(1, WITHIN)))
            file.flush()
        file.write("".join(_burst(canary, wakes)))


def _burst(canary: Canary, wakes: Wakes) -> Iterator[str]:
    with ExitStack() as touched:
        for _ in range(BLOCKS):
            time.sleep(REST_S)
            yield _row(*canary.times_us(ROUNDS), wakes.time_us(), _touch_us(touched))


def _touch_us(touched: ExitStack) -> float:
    """Time for a MiB."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    begun_ns = time.perf_counter_ns()
    touched.enter_context(mmap.mmap(-1, TOUCHED_BYTES, flags))
    return (time.perf_counter_ns() - begun_ns) / (TOUCHED_BYTES / 2**20) / 1e3


def _row(
    compute_us: float, memory_us: float, wake_us: float | None = None, touch_us: float | None = None
) -> str:
    times_us = compute_us, memory_us, wake_us, touch_us
    cells = ("" if one is None else f"{one:.3f}" for one in times_us)
    return f"{time.time():.3f},{HOST},{','.join(cells)}\n"
