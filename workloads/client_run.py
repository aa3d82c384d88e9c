"""Running one client process of a workload to its exit, with its output in the record."""

from __future__ import annotations

import time

from cluster.command import Command
from cluster.errors import StudyError
from cluster.transport import ProcessId
from workloads.manifest import ClientRun
from workloads.workload import Bench

TAIL_LINES = 15
LOOK_EVERY_S = 5.0
"""How often, meanwhile, it is looked whether every daemon still runs."""


def run_client(bench: Bench, command: Command, timeout_s: float, folder: str = "raw") -> ClientRun:
    """Start `command` on the client node, wait for it, and say how it ended.

    A client still running after `timeout_s` is stopped and has no exit code: never a success.
    """
    node = bench.cluster.topology.client
    stdout, stderr = f"{folder}/{command.name}.out", f"{folder}/{command.name}.err"
    start_s = time.time()
    process = bench.transport.start(
        node, command, bench.record.root / stdout, bench.record.root / stderr
    )
    try:
        exit_code = _waited(bench, process, timeout_s)
    finally:
        bench.transport.stop(process)  # of what has exited: nothing to do
        bench.transport.collect(node, bench.record.root / folder)
    return ClientRun(
        name=command.name,
        node=node.name,
        argv=command.argv,
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        start_epoch_s=start_s,
        end_epoch_s=time.time(),
    )


def _waited(bench: Bench, process: ProcessId, timeout_s: float) -> int | None:
    """Its exit code; None past the limit. StudyError as soon as a daemon it needs has died: a client
    of a broken cluster may wait for minutes, and its numbers would be worth nothing."""
    deadline = time.monotonic() + timeout_s
    while (left_s := deadline - time.monotonic()) > 0:
        try:
            return bench.transport.wait(process, min(left_s, LOOK_EVERY_S))
        except TimeoutError:
            bench.check_daemons()
    return None


def require_success(bench: Bench, run: ClientRun, what: str) -> None:
    """StudyError with the last lines of its error output unless `run` ended with 0."""
    if run.exit_code == 0:
        return
    ended = "did not end in time" if run.exit_code is None else f"ended with {run.exit_code}"
    raise StudyError(
        f"{what} {ended}; its last lines:\n{tail(bench, run)}",
        f"{run.name} on node {run.node}",
        f"read {bench.record.root.name}/{run.stderr} and the daemons' logs.",
    )


def tail(bench: Bench, run: ClientRun) -> str:
    """The last lines a client wrote to standard error."""
    text = (bench.record.root / run.stderr).read_text(encoding="utf-8", errors="replace")
    return "\n".join(text.splitlines()[-TAIL_LINES:])
