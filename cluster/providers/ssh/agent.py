"""The agent: answers the requests of a channel, on a host, until that ends. Leaves nothing of itself.

Sent into memory by `cluster.providers.ssh.channel`; standard library only. It starts processes the way the
`local` provider does, so they outlive it. It decides nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.processes import Children
from density_study.cluster.model.errors import InputError, StudyError, TearDownError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.ssh import host_lease, units
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import is_alive

if TYPE_CHECKING:
    from execnet import Channel

ERRORS: dict[str, type[StudyError]] = {
    kind.__name__: kind for kind in (StudyError, InputError, TearDownError)
}
"""Errors that cross the connection with their fields."""


class Agent:
    """Each public method is a verb of `Channel.call`."""

    def __init__(self) -> None:
        self._children = Children()

    def start(
        self, tag: str, node: str, command: Mapping[str, Any], stdout: str, stderr: str
    ) -> list[int]:
        """[pid, start in ticks] of a new process."""
        process = self._children.start(tag, node, Command(**command), Path(stdout), Path(stderr))
        return [process.pid, process.start_ticks]

    def serve(
        self, tag: str, node: str, command: Mapping[str, Any], stdout: str, stderr: str
    ) -> list[int]:
        """The same for a daemon: as a unit of systemd where the host has it."""
        if not units.usable():
            return self.start(tag, node, command, stdout, stderr)
        return units.start(tag, node, Command(**command), stdout, stderr)

    def alive(self, processes: list[list[Any]]) -> list[bool]:
        self._children.poll()
        return [is_alive(ProcessId(*process)) for process in processes]

    def wait(self, process: list[Any], timeout_s: float) -> int:
        """Exit code of a process started over this very connection."""
        return self._children.wait(ProcessId(*process), timeout_s)

    def stop(self, process: list[Any], grace_s: float) -> None:
        self._children.stop(ProcessId(*process), grace_s)

    def put(self, path: str, content: bytes) -> None:
        target = Path(path)
        with atomic.replacing(target) as aside:
            aside.write_bytes(content)
        atomic.sync_folder(target.parent)

    def read(self, path: str, offset: int, size: int) -> bytes:
        with Path(path).open("rb") as stream:
            stream.seek(offset)
            return stream.read(size)

    def files(self, folder: str) -> list[str]:
        """Paths below `folder` of the regular files there; none if it does not exist."""
        root = Path(folder)
        found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        return sorted(str(path.relative_to(root)) for path in found)

    def remove_tree(self, folder: str, below: str) -> None:
        """A folder of our own work directory; nothing outside of it."""
        path = Path(folder)
        if Path(below) not in path.parents or ".." in path.parts:
            raise ValueError(f"{folder} is not below {below}")
        shutil.rmtree(path, ignore_errors=True)

    def act(self, name: str, arguments: list[Any]) -> Any:
        return HOST_COMMANDS[name](*arguments)

    units = staticmethod(units.of)
    take_lease = staticmethod(host_lease.take)
    release_lease = staticmethod(host_lease.release)
    lease_holder = staticmethod(host_lease.holder)


def serve(channel: Channel, silent_s: float) -> None:
    """Requests (verb, *arguments); answers {"ok": value} or {"error": ...}. None is a ping without answer.

    Ends this process after `silent_s` seconds without either.
    """
    agent = Agent()
    channel.send("ready")
    while True:
        try:
            request = channel.receive(silent_s)
        except channel.TimeoutError:
            os._exit(1)
        except EOFError:
            return
        if request is None:
            continue
        verb, *arguments = request
        try:
            answer = {"ok": getattr(agent, verb)(*arguments)}
        except Exception as error:  # the controller raises it again
            answer = failure(error)
        channel.send(answer)


def failure(error: Exception) -> dict[str, Any]:
    """An exception as the answer to a request."""
    if isinstance(error, StudyError):
        kind = type(error).__name__
        kind = kind if kind in ERRORS else "StudyError"
        return {"error": kind, "what": error.what, "where": error.where, "remedy": error.remedy}
    if isinstance(error, FileNotFoundError):
        return {"error": "FileNotFoundError", "what": str(error.filename)}
    if isinstance(error, TimeoutError):
        return {"error": "TimeoutError", "what": str(error)}
    return {"error": "other", "what": f"{type(error).__name__}: {error}"}
