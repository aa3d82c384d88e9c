"""The agent: answers the requests of a channel, on a host, until that ends. Leaves nothing of itself.

Sent into memory by `cluster.providers.ssh.channel`; standard library only. It starts processes the way the
`local` provider does, so they outlive it; it asks and acts, and decides nothing.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster.machine.host_commands import HOST_COMMANDS
from cluster.machine.processes import spawn, stop_all
from cluster.model.command import Command
from cluster.model.transport import ProcessId
from cluster.providers.ssh import host_lease, units
from cluster.providers.ssh.wire import failure
from cluster.state import atomic
from cluster.state.tags import child_start_ticks, is_alive

if TYPE_CHECKING:
    from execnet import Channel


class Agent:
    """Remembers its children, for their exit codes."""

    def __init__(self) -> None:
        self._children: dict[ProcessId, subprocess.Popen[bytes]] = {}

    def start(
        self, tag: str, node: str, command: Mapping[str, Any], stdout: str, stderr: str
    ) -> list[int]:
        """[pid, start in ticks] of a new process."""
        given = _command(command)
        child = spawn(tag, node, given, Path(stdout), Path(stderr))
        process = ProcessId(node, given.name, child.pid, child_start_ticks(child.pid))
        self._children[process] = child
        return [process.pid, process.start_ticks]

    def serve(
        self, tag: str, node: str, command: Mapping[str, Any], stdout: str, stderr: str,
        toolkit: str,
    ) -> list[int]:  # fmt: skip
        """The same for a daemon: as a unit of systemd where the host has it."""
        if not units.usable():
            return self.start(tag, node, command, stdout, stderr)
        return units.start(tag, node, _command(command), stdout, stderr, toolkit)

    def alive(self, processes: list[list[Any]]) -> list[bool]:
        for child in self._children.values():
            child.poll()
        return [is_alive(ProcessId(*process)) for process in processes]

    def wait(self, process: list[Any], timeout_s: float) -> int:
        """Exit code of a process started over this very connection."""
        child = self._children[ProcessId(*process)]
        try:
            return child.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{process[1]} on {process[0]} still runs") from error

    def stop(self, process: list[Any], grace_s: float) -> None:
        identity = ProcessId(*process)
        stop_all([identity], grace_s)
        if identity in self._children:
            self._children[identity].wait()

    def put(self, path: str, content: bytes) -> None:
        target = Path(path)
        with atomic.replacing(target) as aside:
            aside.write_bytes(content)
        atomic.sync_folder(target.parent)

    def read(self, path: str, offset: int, size: int) -> bytes:
        with Path(path).open("rb") as stream:
            stream.seek(offset)
            return stream.read(size)

    def files(self, folder: str) -> list[list[Any]]:
        """[path below `folder`, bytes] of every regular file there; none if it is not there."""
        root = Path(folder)
        found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        return sorted([str(path.relative_to(root)), path.stat().st_size] for path in found)

    def remove_tree(self, folder: str, below: str) -> None:
        """A folder of our own work directory; nothing outside of it."""
        path = Path(folder)
        if Path(below) not in path.parents or ".." in path.parts:
            raise ValueError(f"{folder} is not below {below}")
        shutil.rmtree(path, ignore_errors=True)

    def act(self, name: str, arguments: list[Any]) -> Any:
        return HOST_COMMANDS[name](*arguments)

    def units(self, tag: str) -> list[str]:
        return units.of(tag)

    def lease(self, verb: str, work: str, lease: dict[str, Any]) -> Any:
        return {"take": host_lease.take, "release": host_lease.release}[verb](work, lease)

    def lease_holder(self, work: str) -> dict[str, Any] | None:
        return host_lease.holder(work)


def _command(given: Mapping[str, Any]) -> Command:
    return Command(given["name"], tuple(given["argv"]), given["env"], given["cwd"])


def serve(channel: Channel) -> None:
    """Requests (verb, *arguments); answers {"ok": value} or {"error": ...}."""
    agent = Agent()
    channel.send("ready")
    for verb, *arguments in channel:
        channel.send(_answer(agent, verb, arguments))


def _answer(agent: Agent, verb: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        method: Callable[..., Any] = getattr(agent, verb)
        return {"ok": method(*arguments)}
    except Exception as error:  # told to the controller, which knows what it asked for
        return failure(error)
