"""Runs client processes of a workload until they exit, with their output in the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from density_study.cluster.model.errors import StudyError, each_of
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.workloads.base.barrier import Waiting, start_together
from density_study.workloads.base.values import FIRST_TURN_AFTER_S, ClientRun
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
    context: TrialContext, command: Command, timeout_s: float, folder: str = "raw"
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
    clients = _Clients(context, folder)
    begin_s = None
    with _started([(clients, commands)]):
        if ready_within_s is not None:
            begin_s = start_together([clients.waiting], ready_within_s)
        due_s = inf
        if deed is not None:
            begun_s = begin_s or clients.first_start_s + deed.warm_up_s
            due_s = time.monotonic() + begun_s + deed.after_s - time.time()
        _wait([clients], timeout_s, enough, deed, due_s)
    return clients.runs(begin_s)


def run_duet(
    both: Sequence[tuple[TrialContext, Sequence[tuple[Node, Command]]]],
    timeout_s: float,
    ready_within_s: float,
) -> tuple[float, list[tuple[ClientRun, ...]]]:
    """Start the commands of two trials, let all begin at one moment, and wait for all. Returns the moment at
    which their first turn begins, in epoch seconds of the controller's clock, and the clients of each trial.
    """
    started = [(_Clients(context, "raw"), commands) for context, commands in both]
    every = [clients for clients, _ in started]
    with _started(started):
        go_s = start_together([clients.waiting for clients in every], ready_within_s)
        _wait(every, timeout_s)
    begin_s = go_s + FIRST_TURN_AFTER_S
    return begin_s, [clients.runs(begin_s) for clients in every]


class _Clients:
    """The clients of one trial: `started` with their start in epoch seconds, `ends` with exit code (None:
    stopped) and end of those that have ended."""

    def __init__(self, context: TrialContext, folder: str) -> None:
        self.context = context
        self.folder = folder
        self.started: list[tuple[Node, Command, ProcessId, float]] = []
        self.ends: dict[ProcessId, tuple[int | None, float]] = {}

    @property
    def waiting(self) -> Waiting:
        clients = [(node, process) for node, _, process, _ in self.started]
        return Waiting(self.context, clients, self._output)

    @property
    def first_start_s(self) -> float:
        return self.started[0][3]

    @property
    def left(self) -> list[ProcessId]:
        return [process for _, _, process, _ in self.started if process not in self.ends]

    @property
    def _output(self) -> Path:
        return self.context.record.root / self.folder

    def start(self, node: Node, command: Command) -> None:
        out, err = (self.context.record.root / file for file in _outputs(command, self.folder))
        start_s = time.time()
        process = self.context.transport.start(node, command, out, err)
        self.started.append((node, command, process, start_s))

    def wait(self, process: ProcessId, longest_s: float) -> None:
        with suppress(TimeoutError):
            exit_code = self.context.transport.wait(process, longest_s)
            self.ends[process] = (exit_code, time.time())

    def end(self) -> None:
        """Stop those that run, and fetch the output of all. A host that does not answer leaves none of the
        others running."""
        transport = self.context.transport
        processes = [process for _, _, process, _ in self.started]
        nodes = list(dict.fromkeys(node for node, _, _, _ in self.started))
        acts = [
            partial(transport.stop, process) for process in processes
        ]  # nothing, of one that has exited
        acts += [partial(transport.collect, node, self._output) for node in nodes]
        each_of(acts, lambda act: act())

    def runs(self, begin_s: float | None) -> tuple[ClientRun, ...]:
        runs = []
        for node, command, process, start_s in self.started:
            stdout, stderr = _outputs(command, self.folder)
            exit_code, end_s = self.ends[process]
            runs.append(
                ClientRun(name=command.name, node=node.name, argv=command.argv, exit_code=exit_code,
                          stdout=stdout, stderr=stderr, start_epoch_s=start_s, end_epoch_s=end_s,
                          begin_epoch_s=begin_s)
            )  # fmt: skip
        return tuple(runs)


@contextmanager
def _started(every: Sequence[tuple[_Clients, Sequence[tuple[Node, Command]]]]) -> Iterator[None]:
    try:
        for clients, commands in every:
            for node, command in commands:
                clients.start(node, command)
        yield
    finally:
        each_of([clients for clients, _ in every], lambda clients: clients.end())


def _outputs(command: Command, folder: str) -> tuple[str, str]:
    return f"{folder}/{command.name}.out", f"{folder}/{command.name}.err"


def _wait(
    every: Sequence[_Clients],
    timeout_s: float,
    enough: Callable[[], bool] | None = None,
    deed: Deed | None = None,
    due_s: float = inf,
) -> None:
    """Until all clients have ended; no exit code after the timeout (scaled up in emulated guests) or an early
    stop. StudyError as soon as a daemon has died: a client of a broken cluster may wait for minutes, and its
    results are useless."""
    now_s = time.monotonic()
    scale = max(clients.context.timeout_scale for clients in every)
    deadline, look_s = now_s + timeout_s * scale, now_s + LOOK_EVERY_S
    while (left := [(c, process) for c in every for process in c.left]) and now_s < deadline:
        for clients, process in left:
            until_s = min(deadline, look_s, due_s) if len(left) == 1 else now_s + POLL_S
            clients.wait(process, max(0.0, until_s - now_s))
        now_s = time.monotonic()
        if deed is not None and now_s >= due_s:
            deed.do()
            deed, due_s = None, inf
        if now_s >= look_s:
            for clients in every:
                clients.context.check_daemons()
                clients.context.check_limits()
            if enough is not None and enough():
                break
            look_s = now_s + LOOK_EVERY_S
    for clients in every:
        clients.ends |= {process: (None, time.time()) for process in clients.left}


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
