"""The start barrier of a trial's clients: each waits, warm, until all are ready, and all start at one moment.

A client writes `<name>-ready` beside its output and waits for `<name>-go`. That holds the moment of the
start in ms of the epoch by the clock of the client's own host.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
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

Waiting = tuple[Node, ProcessId]


def start_together(
    context: TrialContext, clients: Sequence[Waiting], folder: Path, ready_within_s: float
) -> float:
    """Let the clients start together; returns the moment, in epoch seconds of the controller's clock.

    folder: where clients have their output, as the controller sees it. StudyError names a client that ended,
    or was not ready after `ready_within_s` (scaled up in emulated guests).
    """
    _wait_for_all(context, clients, folder, ready_within_s * context.timeout_scale)
    machines = {node.host: node for node, _ in clients}
    offsets_s = {
        host: clock_of(context.transport, node).offset_s for host, node in machines.items()
    }
    go_s = time.time() + LEAD_S * context.timeout_scale
    for node, process in clients:
        there_ms = round(1000 * (go_s + offsets_s[node.host]))
        context.transport.put(node, f"{there_ms}\n", folder / f"{process.name}-{GO}")
    return go_s


def _wait_for_all(
    context: TrialContext, clients: Sequence[Waiting], folder: Path, limit_s: float
) -> None:
    left = list(clients)
    deadline, look_s = time.monotonic() + limit_s, time.monotonic() + LOOK_EVERY_S
    while left := [client for client in left if not _is_ready(context, client, folder)]:
        dead = context.transport.dead([process for _, process in clients])
        now_s = time.monotonic()
        if dead or now_s > deadline:
            process = dead[0] if dead else left[0][1]
            how = "ended before" if dead else f"was not ready within {limit_s:.0f} s for"
            raise StudyError(
                f"{process.name} on node {process.node} {how} the common start of the clients.",
                f"{len(clients)} clients",
                f"read {folder.name}/{process.name}.err of the record.",
            )
        if now_s >= look_s:
            context.check_daemons()
            look_s = now_s + LOOK_EVERY_S
        time.sleep(POLL_S)


def _is_ready(context: TrialContext, client: Waiting, folder: Path) -> bool:
    node, process = client
    file = folder / f"{process.name}-{READY}"
    with suppress(FileNotFoundError):
        context.transport.fetch(node, file, file)
    return file.exists()
