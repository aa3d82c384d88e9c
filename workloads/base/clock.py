"""Clocks of hosts compared with the controller's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Transport

CLOCK_TRIES = 8


@dataclass(frozen=True)
class Reading:
    """offset_s: the host's clock minus the controller's, with an error of at most error_s in either
    direction."""

    offset_s: float
    error_s: float


def read_clock(ask: Callable[[], float]) -> Reading:
    """Offset of a host's clock from the controller's (method 18)."""
    # F. Cristian, Distributed Computing 3 (1989): the host read its clock at some moment of the round trip,
    # so its middle is the estimate and half its duration bounds the error; of several, the shortest.
    readings = []
    for _ in range(CLOCK_TRIES):
        sent_s, begun_s = time.time(), time.monotonic()  # a duration by a clock that is never set
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
