"""The canary: a fixed piece of work, timed. It shows how fast the machine itself is.

A hidden neighbour of a virtual machine, a lower clock frequency or a throttled CPU slow down every program,
and no counter of the guest shows it. The same work then takes longer.

Around the trial, while the cluster rests, blocks of rounds follow each other without a pause: longer than a
scheduler's time slice, which also shows a stolen core. Within the trial it is a part of a round each period,
for the chart: there the trial's own load slows it down.

One for each host and guest. It is not pinned: the kernel gives it an idle core, as it does a daemon's
thread. On a fixed core it would disturb the node that has this core, in some variants another one than in
others.

Its file is that of a device (`workloads.monitors.devices`), and its program `device_sampler`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from density_study.workloads.monitors.devices import HOST, devices, header, title
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

NAME = "canary"
ITERATIONS = 2000
"""For a key derivation: about half a millisecond in registers and the first cache."""
BUFFER_BYTES, PART_BYTES = 32 * 2**20, 2**20
"""Each round copies the next part of a buffer, which other programs have driven out of the caches."""
ROUNDS = 8
"""Rounds in a block, which takes several milliseconds."""
BLOCKS, REST_S = 20, 0.005
"""Blocks in a burst, and the rest between them, in seconds."""
WITHIN = 0.4
"""Share of a round that is done within the trial, with cold caches: a whole one cost 0.16 % of a core."""
START_S = 0.2
"""Time for the other monitors of the machine to start in."""
_WORDS = b"density-study-01"


class Canary:
    """The work and its buffers."""

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(b"\1") * BUFFER_BYTES)
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
            self._at = (self._at + PART_BYTES) % BUFFER_BYTES
        return compute_ns / rounds / share / 1e3, memory_ns / rounds / share / 1e3


def run(host: str, period_s: float, output: Path) -> None:
    """Sample until TERM or INT. A reader sees a burst at once: the trial begins after the first."""
    hold_stop()
    canary = Canary()
    time.sleep(START_S)
    with output.open("w", encoding="utf-8") as file:
        file.write(f"{title(host, NAME)}\n{header(devices()[NAME].columns)}\n")
        file.write("".join(_burst(canary)))
        file.flush()
        while not stopped_within(until_next(period_s)):
            file.write(_row(canary, 1, WITHIN))
            file.flush()
        file.write("".join(_burst(canary)))


def _burst(canary: Canary) -> Iterator[str]:
    for _ in range(BLOCKS):
        time.sleep(REST_S)
        yield _row(canary, ROUNDS)


def _row(canary: Canary, rounds: int, share: float = 1.0) -> str:
    compute_us, memory_us = canary.times_us(rounds, share)
    return f"{time.time():.3f},{HOST},{compute_us:.3f},{memory_us:.3f}\n"
