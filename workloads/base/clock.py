"""Offset of a host's clock from the controller's, measured by round trips (method 18)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster.model.topology import Node
from cluster.model.transport import Transport

TRIES = 8


@dataclass(frozen=True)
class Reading:
    """offset_s: the host's clock minus the controller's, with an error of at most error_s in either
    direction."""

    offset_s: float
    error_s: float


def read_clock(ask: Callable[[], float], tries: int = TRIES) -> Reading:
    """The reading with the shortest round trip of several (Cristian's algorithm): the host read its clock
    at some moment of the round trip, so its middle is the estimate and half its duration bounds the
    error."""
    readings = []
    for _ in range(tries):
        sent_s, begun_s = time.time(), time.monotonic()
        answer_s = ask()
        half_s = (time.monotonic() - begun_s) / 2
        readings.append(Reading(answer_s - (sent_s + half_s), half_s))
    return min(readings, key=lambda reading: reading.error_s)


def clock_of(transport: Transport, node: Node) -> Reading:
    """The clock of the machine that hosts `node`. Nodes that share the controller's kernel share its clock,
    so their offset is zero without a measurement."""
    if transport.same_kernel:
        return Reading(0.0, 0.0)
    return read_clock(lambda: float(transport.act(node, "clock")))


def method_of(transport: Transport, before: Reading, after: Reading) -> str:
    """Description of the measurement for the manifest."""
    if transport.same_kernel:
        return "same kernel"
    error_ms = 1000 * max(before.error_s, after.error_s)
    return f"shortest of {TRIES} round trips; error at most {error_ms:.1f} ms"
