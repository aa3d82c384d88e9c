"""Runs client processes of a workload until they exit, with their output in the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.workloads.base.barrier import start_together
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import TrialContext

_FRAME = "\tat "
_RETRY = "Retrying connect to server: "
TAIL_LINES = 15
GRACE_S = 120.0
"""Time that a client may take to start and close, in addition to its own run time."""


@dataclass(frozen=True)
class Deed:
    """Something to do once while the clients run. `after_s`: seconds from the start of their schedule;
    `warm_up_s`: how long a client that waits for no others takes until then."""

    do: Callable[[], None]
    after_s: float
    warm_up_s: float


POLL_S = 0.05
"""Period of polling several clients in turn: the precision of their end times."""
LOOK_EVERY_S = 5.0
"""Period of checking that the daemons are alive, and whether the client may stop."""


def run_client(
    context: TrialContext,
    command: Command,
    timeout_s: float,
    folder: str = "raw",
) -> ClientRun:
    """Start `command` on the client node, and wait for its exit.

    A client that still runs after `timeout_s` (scaled up in emulated guests) is stopped. It then has no exit
    code and is never a success.
    """
    node = context.cluster.topology.client
    (run,) = run_clients(context, ((node, command),), timeout_s, folder)
    return run


def run_clients(
    context: TrialContext,
    commands: Sequence[tuple[Node, Command]],
    timeout_s: float,
    folder: str = "raw",
    enough: Callable[[], bool] | None = None,
    ready_within_s: float | None = None,
    deed: Deed | None = None,
) -> tuple[ClientRun, ...]:
    """Start each command on its node, and wait for each as `run_client` does. All are stopped if
    `enough`, called every LOOK_EVERY_S, returns true.

    deed: done meanwhile. ready_within_s: the commands wait at a barrier (`workloads.base.barrier`), and this
    is how long they may take to reach it.
    """
    started: list[tuple[Node, Command, ProcessId, float]] = []
    output = context.record.root / folder
    begin_s = None
    try:
        for node, command in commands:
            out, err = (context.record.root / file for file in _outputs(command, folder))
            start_s = time.time()
            process = context.transport.start(node, command, out, err)
            started.append((node, command, process, start_s))
        if ready_within_s is not None:
            waiting = [(node, process) for node, _, process, _ in started]
            begin_s = start_together(context, waiting, output, ready_within_s)
        limit_s = timeout_s * context.timeout_scale
        due_s = inf
        if deed is not None:
            begun_s = begin_s or started[0][3] + deed.warm_up_s
            due_s = time.monotonic() + begun_s + deed.after_s - time.time()
        processes = [process for _, _, process, _ in started]
        ends = _waited(context, processes, limit_s, enough, deed, due_s)
    finally:
        for _, _, process, _ in started:
            context.transport.stop(process)  # no effect on a process that has exited
        for node in dict.fromkeys(node for node, _, _, _ in started):
            context.transport.collect(node, output)
    runs = []
    for node, command, process, start_s in started:
        stdout, stderr = _outputs(command, folder)
        exit_code, end_s = ends[process]
        runs.append(
            ClientRun(name=command.name, node=node.name, argv=command.argv, exit_code=exit_code,
                      stdout=stdout, stderr=stderr, start_epoch_s=start_s, end_epoch_s=end_s,
                      begin_epoch_s=begin_s)
        )  # fmt: skip
    return tuple(runs)


def _outputs(command: Command, folder: str) -> tuple[str, str]:
    return f"{folder}/{command.name}.out", f"{folder}/{command.name}.err"


def _waited(
    context: TrialContext,
    processes: Sequence[ProcessId],
    timeout_s: float,
    enough: Callable[[], bool] | None,
    deed: Deed | None,
    due_s: float,
) -> dict[ProcessId, tuple[int | None, float]]:
    """Exit code and end time of each process; no code after the timeout or an early stop. StudyError as soon
    as a daemon has died: a client of a broken cluster may wait for minutes, and its results are useless."""
    ends: dict[ProcessId, tuple[int | None, float]] = {}
    now_s = time.monotonic()
    deadline, look_s = now_s + timeout_s, now_s + LOOK_EVERY_S
    while (left := [p for p in processes if p not in ends]) and now_s < deadline:
        for process in left:
            until_s = min(deadline, look_s, due_s) if len(left) == 1 else now_s + POLL_S
            try:
                exit_code = context.transport.wait(process, max(0.0, until_s - now_s))
                ends[process] = (exit_code, time.time())
            except TimeoutError:
                pass
        now_s = time.monotonic()
        if deed is not None and now_s >= due_s:
            deed.do()
            deed, due_s = None, inf
        if now_s >= look_s:
            context.check_daemons()
            context.check_limits()
            if enough is not None and enough():
                break
            look_s = now_s + LOOK_EVERY_S
    return ends | {process: (None, time.time()) for process in processes if process not in ends}


def require_success(context: TrialContext, run: ClientRun, what: str) -> None:
    """StudyError with the last lines of its error output unless `run` exited with 0."""
    if run.exit_code == 0:
        return
    ended = "timed out" if run.exit_code is None else f"failed with exit code {run.exit_code}"
    raise StudyError(
        f"{what} {ended}; its last lines:\n{tail(context, run)}",
        f"{run.name} on node {run.node}",
        f"read {context.record.root.name}/{run.stderr} and the daemons' logs.",
    )


def tail(context: TrialContext, run: ClientRun) -> str:
    """The last informative lines of a client's standard error."""
    text = (context.record.root / run.stderr).read_text(encoding="utf-8", errors="replace")
    return "\n".join(informative(text.splitlines())[-TAIL_LINES:])


def informative(lines: Sequence[str]) -> list[str]:
    """The lines without stack frames and without Hadoop's retries to connect, which would push the actual
    error out of a short excerpt."""
    return [line for line in lines if not line.startswith(_FRAME) and _RETRY not in line]
