"""Running client processes of a workload to their exit, with their output in the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from cluster.model.command import Command
from cluster.model.errors import StudyError
from cluster.model.transport import ProcessId
from workloads.base.values import ClientRun
from workloads.base.workload import TrialContext

_FRAME = "\tat "
_RETRY = "Retrying connect to server: "
TAIL_LINES = 15
GRACE_S = 120.0
"""How much longer than its own time a client may take, to start and to close."""
POLL_S = 0.05
"""How long each of several clients is waited for in turn: how exactly their ends are known."""
LOOK_EVERY_S = 5.0
"""How often, meanwhile, it is looked whether every daemon still runs, and whether it is enough."""


def run_client(
    context: TrialContext,
    command: Command,
    timeout_s: float,
    folder: str = "raw",
    enough: Callable[[], bool] | None = None,
) -> ClientRun:
    """Start `command` on the client node, wait for it, and say how it ended.

    A client still running after `timeout_s` (longer in emulated guests) is stopped and has no exit
    code: never a success. So is one that is stopped because `enough`, asked every LOOK_EVERY_S, said so.
    """
    (run,) = run_clients(context, (command,), timeout_s, folder, enough)
    return run


def run_clients(
    context: TrialContext,
    commands: Sequence[Command],
    timeout_s: float,
    folder: str = "raw",
    enough: Callable[[], bool] | None = None,
) -> tuple[ClientRun, ...]:
    """Start all `commands` on the client node at once, and wait for each as `run_client` does."""
    node = context.cluster.topology.client
    started: list[tuple[Command, ProcessId, float]] = []
    try:
        for command in commands:
            stdout, stderr = (context.record.root / file for file in _outputs(command, folder))
            start_s = time.time()
            started.append(
                (command, context.transport.start(node, command, stdout, stderr), start_s)
            )
        limit_s = timeout_s * context.timeout_scale
        ends = _waited(context, [process for _, process, _ in started], limit_s, enough)
    finally:
        for _, process, _ in started:
            context.transport.stop(process)  # of what has exited: nothing to do
        context.transport.collect(node, context.record.root / folder)
    return tuple(
        _described(node.name, command, folder, start_s, *ends[process])
        for command, process, start_s in started
    )


def _outputs(command: Command, folder: str) -> tuple[str, str]:
    return f"{folder}/{command.name}.out", f"{folder}/{command.name}.err"


def _described(
    node: str, command: Command, folder: str, start_s: float, exit_code: int | None, end_s: float
) -> ClientRun:
    stdout, stderr = _outputs(command, folder)
    return ClientRun(
        name=command.name,
        node=node,
        argv=command.argv,
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        start_epoch_s=start_s,
        end_epoch_s=end_s,
    )


def _waited(
    context: TrialContext,
    processes: Sequence[ProcessId],
    timeout_s: float,
    enough: Callable[[], bool] | None,
) -> dict[ProcessId, tuple[int | None, float]]:
    """Exit code and epoch second of each one's end; no code past the limit, or once it was enough.
    StudyError as soon as a daemon they need has died: a client of a broken cluster may wait for
    minutes, and its numbers would be worth nothing."""
    ends: dict[ProcessId, tuple[int | None, float]] = {}
    now_s = time.monotonic()
    deadline, look_s = now_s + timeout_s, now_s + LOOK_EVERY_S
    while (left := [one for one in processes if one not in ends]) and now_s < deadline:
        for process in left:
            until_s = min(deadline, look_s) if len(left) == 1 else now_s + POLL_S
            try:
                exit_code = context.transport.wait(process, max(0.0, until_s - now_s))
                ends[process] = (exit_code, time.time())
            except TimeoutError:
                pass
        now_s = time.monotonic()
        if now_s >= look_s:
            context.check_daemons()
            if enough is not None and enough():
                break
            look_s = now_s + LOOK_EVERY_S
    return ends | {process: (None, time.time()) for process in processes if process not in ends}


def require_success(context: TrialContext, run: ClientRun, what: str) -> None:
    """StudyError with the last lines of its error output unless `run` ended with 0."""
    if run.exit_code == 0:
        return
    ended = "did not end in time" if run.exit_code is None else f"ended with {run.exit_code}"
    raise StudyError(
        f"{what} {ended}; its last lines:\n{tail(context, run)}",
        f"{run.name} on node {run.node}",
        f"read {context.record.root.name}/{run.stderr} and the daemons' logs.",
    )


def tail(context: TrialContext, run: ClientRun) -> str:
    """The last lines a client wrote to standard error, as `telling` leaves them."""
    text = (context.record.root / run.stderr).read_text(encoding="utf-8", errors="replace")
    return "\n".join(telling(text.splitlines())[-TAIL_LINES:])


def telling(lines: Sequence[str]) -> list[str]:
    """Without the frames of a stack trace: what was thrown says more than where. Without Hadoop's line for
    each of many tries to connect, which would hide why it tried."""
    return [line for line in lines if not line.startswith(_FRAME) and _RETRY not in line]
