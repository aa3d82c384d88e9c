"""The agent: answers the requests of a channel, on a host, until that ends. Leaves nothing of itself.

Sent into memory by `cluster.providers.ssh.channel`; standard library only. It starts processes the way the
`local` provider does, so they outlive it. It decides nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.processes import Children
from density_study.cluster.model.errors import InputError, StudyError, TearDownError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.ssh import host_lease, host_stacks, units, wire
from density_study.cluster.providers.ssh.work_folder import own_folder
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import is_alive

MAX_REQUEST_BYTES = 64 * 2**20
MAX_FILES = 20_000
_GRACE_S = 5.0
"""For a request in progress when the connection ends. Then it is interrupted, and after as long killed."""

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
        """Start a daemon: as a unit of systemd where the host has it, else as `start` does."""
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

    def put(self, path: str, content: str) -> None:
        """`content` in base64, here and below: messages are JSON."""
        target = Path(path)
        with atomic.replacing(target) as aside:
            aside.write_bytes(b64decode(content))
        atomic.sync_folder(target.parent)

    def append(self, path: str, offset: int, content: str) -> None:
        """Write a part of a large file; the first one makes it anew."""
        with Path(path).open("r+b" if offset else "wb") as stream:
            stream.seek(offset)
            stream.write(b64decode(content))

    def read(self, path: str, offset: int, size: int) -> str:
        with Path(path).open("rb") as stream:
            stream.seek(offset)
            return b64encode(stream.read(size)).decode()

    def files(self, folder: str) -> list[str]:
        """Paths below `folder` of the regular files there; none if it does not exist. StudyError if there are
        too many."""
        root = Path(folder)
        found = []
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                found.append(str(path.relative_to(root)))
            if len(found) > MAX_FILES:
                raise StudyError(
                    f"there are more than {MAX_FILES} files.", folder, "remove what is not needed."
                )
        return sorted(found)

    def remove_tree(self, folder: str, below: str) -> None:
        """A folder of our own work directory; nothing outside of it."""
        path = Path(folder)
        if Path(below) not in path.parents or ".." in path.parts:
            raise ValueError(f"{folder} is not below {below}")
        shutil.rmtree(path, ignore_errors=True)

    def act(self, name: str, arguments: list[Any]) -> Any:
        return HOST_COMMANDS[name](*arguments)

    own_folder = staticmethod(own_folder)
    check_units = staticmethod(units.check)
    units = staticmethod(units.of)
    install_stack = staticmethod(host_stacks.install)
    verify_stack = staticmethod(host_stacks.verify)
    archive_classes = staticmethod(host_stacks.archive_classes)
    take_lease = staticmethod(host_lease.take)
    release_lease = staticmethod(host_lease.release)
    lease_holder = staticmethod(host_lease.holder)


def serve(requests: IO[bytes], answers: IO[bytes], silent_s: float) -> None:
    """Requests [number, verb, *arguments]; answers {"number", "ok": value} or {"number", "error": ...}. An
    empty request is a ping without an answer.

    Returns when the connection ends. Ends this process after `silent_s` seconds without a request.
    """
    agent = Agent()
    waiting: SimpleQueue[list[Any] | None] = SimpleQueue()
    Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    wire.send(answers, {"number": 0, "ok": None})
    while True:
        try:
            request = waiting.get(timeout=silent_s)
        except Empty:
            os._exit(1)
        if request is None:
            return
        if request:
            number, verb, *arguments = request
            _answer(answers, number, agent, verb, arguments)


def _answer(answers: IO[bytes], number: int, agent: Agent, verb: str, arguments: list[Any]) -> None:
    try:
        wire.send(answers, {"number": number, "ok": getattr(agent, verb)(*arguments)})
    except BrokenPipeError:
        raise
    except Exception as error:  # the controller raises it again
        wire.send(answers, {"number": number, **failure(error)})


def _listen(requests: IO[bytes], waiting: SimpleQueue[list[Any] | None]) -> None:
    """Queue the requests; when the connection ends, end this process, whatever it is doing."""
    try:
        while True:
            waiting.put(wire.receive(requests, MAX_REQUEST_BYTES))
    except (EOFError, OSError, wire.WireError):
        waiting.put(None)
    time.sleep(_GRACE_S)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_GRACE_S)
    os._exit(1)


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
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return {"error": "other", "what": f"{error.strerror}{place}"}
    return {"error": "other", "what": f"{type(error).__name__}: {error}"}
