"""Processes on this machine: start them in a clean environment, and stop them reliably."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from density_study.cluster.machine import io_limits
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.state.tags import NODE, TAG, child_start_ticks, is_alive

_KEPT = ("HOME", "USER", "LOGNAME")
_POLL_S = 0.05
KILLED_WITHIN_S = 60.0
"""A JVM of 200 GB takes seconds to give its memory back."""


def environment(tag: str, node: str, command: Command) -> dict[str, str]:
    """A clean environment: variables of the user's shell must not influence the measurement."""
    kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
    clean = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
    return {**kept, **clean, NODE: node, **command.env, TAG: tag}


class Children:
    """Processes that this process started. They outlive it, but only this process learns their exit codes."""

    def __init__(self) -> None:
        self._children: dict[ProcessId, subprocess.Popen[bytes]] = {}

    def start(
        self, tag: str, node: str, command: Command, stdout: Path, stderr: Path,
        cgroup: Path | None = None,
    ) -> ProcessId:  # fmt: skip
        """Start `command` in a session of its own, tagged, in `cgroup` if one is given.

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
                    env=environment(tag, node, command),
                    cwd=command.cwd,
                    start_new_session=True,
                )
                if cgroup is not None:
                    io_limits.join(cgroup, child.pid)
        except OSError as error:
            raise StudyError(
                f"{command.argv[0]} cannot be executed: {error.strerror}.",
                f"{command.name} on node {node!r}",
                "check that the file exists and is executable.",
            ) from error
        # A child that already ended is a zombie now, and keeps its entry in /proc.
        process = ProcessId(node, command.name, child.pid, child_start_ticks(child.pid))
        self._children[process] = child
        return process

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        """Exit code, negative for a signal. TimeoutError past the limit, StudyError if another process
        started it: over SSH, the agent of an earlier connection."""
        if process not in self._children:
            raise StudyError(
                "it is not known how it ended: the connection broke after its start, or the host restarted.",
                f"{process.name} on node {process.node!r}",
                "look at `uptime` and the network of that host, and run the same command again.",
            )
        try:
            return self._children[process].wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{process.name} on {process.node} still runs") from error

    def stop(self, process: ProcessId, grace_s: float) -> None:
        """Stop any process, as `stop_all` does. A child of this process leaves no zombie."""
        stop_all([process], grace_s)
        if process in self._children:
            self._children[process].wait()

    def poll(self) -> None:
        """Let ended children disappear from /proc."""
        for child in self._children.values():
            child.poll()


def stop_all(processes: list[ProcessId], grace_s: float) -> None:
    """Send TERM to all at once, and KILL to those left after `grace_s`; returns when all are gone. Without
    grace, KILL at once: after a TERM, a daemon would begin to take leave of its cluster. StudyError if the
    kernel does not end one: it waits for a disk that does not answer."""
    if grace_s > 0:
        _signal(processes, signal.SIGTERM)
    left = _wait_gone(processes, grace_s)
    deadline = time.monotonic() + KILLED_WITHIN_S
    while left:
        if time.monotonic() > deadline:
            raise StudyError(
                f"{', '.join(map(str, left))} did not end within {KILLED_WITHIN_S:.0f} s of SIGKILL.",
                "processes",
                "look for a disk or network file system that does not answer (dmesg); restart the machine "
                "if they stay, then run `study reap`.",
            )
        _signal(left, signal.SIGKILL)
        left = _wait_gone(left, 1.0)


def _signal(processes: list[ProcessId], number: signal.Signals) -> None:
    for process in processes:
        # Open first, then check: the descriptor stays with the process it was opened for.
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
