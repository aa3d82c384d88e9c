"""A host's clock against the controller's, by asking it the time (method 18)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster.model.topology import Node
from cluster.model.transport import Transport

TRIES = 8


@dataclass(frozen=True)
class Reading:
    """offset_s: the host's clock minus the controller's, wrong by at most error_s either way."""

    offset_s: float
    error_s: float


def read_clock(ask: Callable[[], float], tries: int = TRIES) -> Reading:
    """Of several questions the one answered soonest: its answer was given between question and return,
    so it is held against their middle, and half the time between bounds the error."""
    return min((_once(ask) for _ in range(tries)), key=lambda reading: reading.error_s)


def _once(ask: Callable[[], float]) -> Reading:
    asked_s, begun_s = time.time(), time.monotonic()
    answer_s = ask()
    half_s = (time.monotonic() - begun_s) / 2
    return Reading(answer_s - (asked_s + half_s), half_s)


def clock_of(transport: Transport, node: Node) -> Reading:
    """The clock of the machine `node` is on. Nodes that share the controller's kernel share its clock:
    there is nothing to measure."""
    if transport.same_kernel:
        return Reading(0.0, 0.0)
    return read_clock(lambda: float(transport.act(node, "clock")))


def method_of(transport: Transport, before: Reading, after: Reading) -> str:
    """How the offsets were measured, for the manifest."""
    if transport.same_kernel:
        return "same kernel"
    error_ms = 1000 * max(before.error_s, after.error_s)
    return f"asked {TRIES} times, the soonest answer taken; within {error_ms:.1f} ms"
