"""`LocalTransport`: files and processes on this machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from density_study.cluster.machine import io_limits
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.other_users import private_network
from density_study.cluster.machine.processes import Children
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.provider import GRACE_S
from density_study.cluster.state import atomic
from density_study.cluster.state.events import NetworkUp
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import is_alive


class LocalTransport:
    """Processes outlive the caller and need not be its children: Airflow starts and stops them in
    different tasks. Only `wait` is for the process that started them."""

    same_kernel = True

    def __init__(self, tag: str, journal: Journal) -> None:
        self.tag = tag
        self.journal = journal
        self._children = Children()

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """Start `command` in a session of its own. StudyError if it cannot be executed."""
        named = {"tag": self.tag, "node": node.name, "name": command.name}
        self.journal.intend("start", argv=list(command.argv), **named)
        process = self._children.start(
            self.tag, node.name, self._placed(node, command), stdout, stderr, self._cgroup(node)
        )
        self.journal.write(
            "process-started", **named, pid=process.pid, start_ticks=process.start_ticks
        )
        return process

    serve = start

    def alive(self, process: ProcessId) -> bool:
        return is_alive(process)

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        return [process for process in processes if not is_alive(process)]

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        return self._children.wait(process, timeout_s)

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        self._children.stop(process, grace_s)
        self.journal.write("process-stopped", pid=process.pid, start_ticks=process.start_ticks)

    def stop_tagged(self) -> None:
        """Stop all processes of the build on this machine."""
        for process in HOST_COMMANDS["stop-tagged"](self.tag, GRACE_S):
            pid, ticks = process["pid"], process["start_ticks"]
            self.journal.write("process-stopped", pid=pid, start_ticks=ticks)

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

    def _placed(self, node: Node, command: Command) -> Command:
        """The command line that runs the command where the node is."""
        return command

    def _cgroup(self, node: Node) -> Path | None:
        """Where a worker on an emulated disk runs."""
        limited = node.disk is not None and node.disk.limits is not None and "worker" in node.roles
        return io_limits.group(self.tag, node.lead_drive) if limited else None


class PrivateTransport(LocalTransport):
    """Its commands run in the network of the build, if it has one."""

    def _placed(self, node: Node, command: Command) -> Command:
        """StudyError if the network's holder is gone: the command must not run outside."""
        if command.of_machine:
            return command
        return replace(command, argv=(*entry_of(self.tag, self.journal), *command.argv))


def network_of(tag: str, journal: Journal) -> str:
    """Name of the build's network; empty if its addresses are this machine's."""
    found = [event.private for event in journal.events(NetworkUp) if event.tag == tag]
    return private_network.name_of(tag) if found and found[-1] else ""


def entry_of(tag: str, journal: Journal) -> tuple[str, ...]:
    """Words that run a command in the build's network; none if it has none. StudyError if it is gone."""
    try:
        return private_network.entry(network_of(tag, journal))
    except OSError as error:
        raise StudyError(
            f"its network namespace is gone: {error.strerror}.",
            f"build {tag}",
            "find out what stopped its process `network`, and run the same command again.",
        ) from error
