"""`LocalTransport`: files and processes on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cluster.machine import io_limits
from cluster.machine.host_commands import HOST_COMMANDS
from cluster.machine.processes import spawn, stop_all
from cluster.model.command import Command
from cluster.model.topology import Node
from cluster.model.transport import ProcessId
from cluster.state import atomic
from cluster.state.journal import Journal
from cluster.state.tags import child_start_ticks, is_alive


class LocalTransport:
    """Processes outlive the caller and need not be its children: Airflow starts and stops them in
    different tasks. Only `wait` is for the process that started them."""

    def __init__(self, tag: str, journal: Journal) -> None:
        self.tag = tag
        self.journal = journal
        self._children: dict[ProcessId, subprocess.Popen[bytes]] = {}

    @property
    def same_kernel(self) -> bool:
        return True

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """Start `command` in a session of its own. StudyError if it cannot be executed."""
        named = {"tag": self.tag, "node": node.name, "name": command.name}
        self.journal.intend("start", argv=list(command.argv), **named)
        child = spawn(self.tag, node.name, command, stdout, stderr, _cgroup(self.tag, node))
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
        return HOST_COMMANDS[name](*arguments)


def _cgroup(tag: str, node: Node) -> Path | None:
    """Where a worker on an emulated medium runs."""
    limited = node.disk is not None and node.disk.limits is not None and "worker" in node.roles
    return io_limits.group(tag, node.disk.path) if limited and node.disk else None
