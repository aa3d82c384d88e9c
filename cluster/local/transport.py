"""`LocalTransport`: files and processes on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster import atomic
from cluster.command import Command
from cluster.errors import StudyError
from cluster.journal import Journal
from cluster.local import io_limits
from cluster.marks import MARK, NODE, child_start_ticks, is_alive
from cluster.transport import ProcessId

if TYPE_CHECKING:  # this module runs on hosts too, which have the standard library alone
    from collections.abc import Sequence

    from cluster.topology import Node

_KEPT = ("HOME", "USER", "LOGNAME")
_POLL_S = 0.05


class LocalTransport:
    """Processes outlive the caller and need not be its children: Airflow starts and stops them in
    different tasks. Only `wait` is for the process that started them."""

    def __init__(self, mark: str, journal: Journal) -> None:
        self.mark = mark
        self.journal = journal
        self._children: dict[ProcessId, subprocess.Popen[bytes]] = {}

    @property
    def same_kernel(self) -> bool:
        return True

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """Start `command` in a session of its own. StudyError if it cannot be executed."""
        named = {"mark": self.mark, "node": node.name, "name": command.name}
        self.journal.write("intent", act="start", argv=list(command.argv), **named)
        child = spawn(self.mark, node.name, command, stdout, stderr, _cgroup(self.mark, node))
        # A child that already ended is a zombie now, and keeps its entry in /proc.
        process = ProcessId(node.name, command.name, child.pid, child_start_ticks(child.pid))
        self._children[process] = child
        fields = {"pid": process.pid, "start_ticks": process.start_ticks}
        self.journal.write("process-started", **named, **fields)
        return process

    def serve(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        return self.start(node, command, stdout, stderr)

    def alive(self, process: ProcessId) -> bool:
        return is_alive(process)

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        return [process for process in processes if not is_alive(process)]

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        """Exit code, negative for a signal. TimeoutError past the limit."""
        try:
            return self._children[process].wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{process.name} on {process.node} still runs") from error

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        stop_all([process], grace_s)
        if process in self._children:
            self._children[process].wait()
        self.journal.write("process-stopped", pid=process.pid, start_ticks=process.start_ticks)

    def put(self, node: Node, text: str, path: Path) -> None:
        atomic.write_text(path, text)

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        """Copy a file; nothing to do where it already is."""
        if path == to:
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)

    def collect(self, node: Node, folder: Path) -> None:
        """Nothing to do: it was written there."""

    def at(self, node: Node, path: Path) -> Path:
        return path

    def python(self, node: Node) -> tuple[str, ...]:
        return (sys.executable,)

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        from cluster.acts import ACTS  # which imports this module

        return ACTS[name](*arguments)


def _cgroup(mark: str, node: Node) -> Path | None:
    """Where a worker on an emulated medium runs."""
    limited = node.disk is not None and node.disk.limits is not None and "worker" in node.roles
    return io_limits.group(mark, node.disk.path) if limited and node.disk else None


def spawn(
    mark: str, node: str, command: Command, stdout: Path, stderr: Path, cgroup: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, marked, in `cgroup` if one is given.

    StudyError if it cannot be executed.
    """
    for stream in (stdout, stderr):
        stream.parent.mkdir(parents=True, exist_ok=True)
    try:
        with stdout.open("ab") as out, stderr.open("ab") as err:
            child = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(mark, node, command),
                cwd=command.cwd,
                start_new_session=True,
            )
            if cgroup is not None:
                io_limits.join(cgroup, child.pid)
            return child
    except OSError as error:
        raise StudyError(
            f"{command.argv[0]} cannot be executed: {error.strerror}.",
            f"{command.name} on node {node!r}",
            "check that the file exists and may be executed.",
        ) from error


def environment(mark: str, node: str, command: Command) -> dict[str, str]:
    """Clean: what the user's shell exports must not reach what is measured."""
    kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
    clean = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
    return {**kept, **clean, NODE: node, **command.env, MARK: mark}


def stop_all(processes: list[ProcessId], grace_s: float) -> None:
    """TERM to all at once, KILL to what is left after the grace; returns when all are gone."""
    _signal(processes, signal.SIGTERM)
    left = _wait_gone(processes, grace_s)
    while left:
        _signal(left, signal.SIGKILL)
        left = _wait_gone(left, 1.0)


def _signal(processes: list[ProcessId], number: signal.Signals) -> None:
    for process in processes:
        # Opened first, checked then: the descriptor stays with the process it was opened for.
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            continue
        try:
            if is_alive(process):
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            continue
        finally:
            os.close(descriptor)


def _wait_gone(processes: list[ProcessId], seconds: float) -> list[ProcessId]:
    deadline = time.monotonic() + seconds
    left = [process for process in processes if is_alive(process)]
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        left = [process for process in left if is_alive(process)]
    return left
