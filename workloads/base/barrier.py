"""The start barrier of a trial's clients: each waits, warm, until all are ready, and all start at one moment.

A client writes `<name>-ready` beside its output and waits for `<name>-go`. That holds the moment of the
start in ms of the epoch by the clock of the client's own host.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import ProcessId
from density_study.workloads.base.clock import clock_of
from density_study.workloads.base.workload import TrialContext

READY, GO = "ready", "go"
LEAD_S = 2.0
"""From the message to the start: more than it takes to reach every client."""
POLL_S = 0.1
LOOK_EVERY_S = 5.0


@dataclass(frozen=True)
class Waiting:
    """Clients of a trial that wait. folder: where they have their output, as the controller sees it."""

    context: TrialContext
    clients: Sequence[tuple[Node, ProcessId]]
    folder: Path


def start_together(every: Sequence[Waiting], ready_within_s: float) -> float:
    """Let all these clients start together; returns the moment, in epoch seconds of the controller's clock.

    StudyError names a client that ended, or was not ready after `ready_within_s` (scaled up in emulated
    guests).
    """
    scale = max(waiting.context.timeout_scale for waiting in every)
    for waiting in every:
        _wait_for_all(waiting, ready_within_s * scale)
    offsets_s = [_offsets_s(waiting) for waiting in every]
    go_s = time.time() + LEAD_S * scale
    for waiting, of_hosts_s in zip(every, offsets_s, strict=True):
        for node, process in waiting.clients:
            there_ms = round(1000 * (go_s + of_hosts_s[node.host]))
            file = waiting.folder / f"{process.name}-{GO}"
            waiting.context.transport.put(node, f"{there_ms}\n", file)
    return go_s


def _offsets_s(waiting: Waiting) -> dict[str, float]:
    machines = {node.host: node for node, _ in waiting.clients}
    transport = waiting.context.transport
    return {host: clock_of(transport, node).offset_s for host, node in machines.items()}


def _wait_for_all(waiting: Waiting, limit_s: float) -> None:
    context, left = waiting.context, list(waiting.clients)
    deadline, look_s = time.monotonic() + limit_s, time.monotonic() + LOOK_EVERY_S
    while left := [client for client in left if not _is_ready(waiting, client)]:
        dead = context.transport.dead([process for _, process in waiting.clients])
        now_s = time.monotonic()
        if dead or now_s > deadline:
            process = dead[0] if dead else left[0][1]
            how = "ended before" if dead else f"was not ready within {limit_s:.0f} s for"
            raise StudyError(
                f"{process.name} on node {process.node} {how} the common start of the clients.",
                f"{len(waiting.clients)} clients",
                f"read {waiting.folder.name}/{process.name}.err of the record.",
            )
        if now_s >= look_s:
            context.check_daemons()
            look_s = now_s + LOOK_EVERY_S
        time.sleep(POLL_S)


def _is_ready(waiting: Waiting, client: tuple[Node, ProcessId]) -> bool:
    node, process = client
    file = waiting.folder / f"{process.name}-{READY}"
    with suppress(FileNotFoundError):
        waiting.context.transport.fetch(node, file, file)
    return file.exists()
