"""`Child`: a child process that ends with its parent.

A pipe, the lifeline, leads from parent to child. End of file on it means that the parent has ended or wants
the child to end. A signal is not enough: Airflow turns a SIGTERM inside a task into a failure of that task,
and a killed parent sends no signal.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

LIFELINE = "STUDY_LIFELINE_FD"
"""Environment variable with the file descriptor of the child's end of the pipe."""


class Child:
    """A running child process with a lifeline. As a context manager, it ends the child on exit."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], log: Path) -> None:
        """Start `argv` in its own session, with `environment` added; output goes to `log`."""
        reading, self._lifeline = os.pipe()
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, **environment, LIFELINE: str(reading)},
                    pass_fds=[reading],
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self.end(grace_s=2.0)

    def wait(self, seconds: float) -> int | None:
        """Exit code (negative for a signal), or None if the child still runs after `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def cut(self) -> None:
        """Close the lifeline, which makes the child end itself. Idempotent."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def end(self, grace_s: float) -> None:
        """Wait for the grace period, then kill the child and the processes it started."""
        if self.wait(grace_s) is not None:
            return
        family = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
        for process in family:
            try:
                process.kill()  # psutil compares start times, so a reused pid is safe
            except psutil.NoSuchProcess:
                continue
        self._process.wait()


def python(module: str, *arguments: str) -> list[str]:
    """argv that runs a module of this program with the current Python interpreter."""
    return [sys.executable, "-m", module, *arguments]


def watch(cut: Callable[[], None]) -> None:
    """In the child: call `cut`, in a separate thread, when the parent's end closes.

    Does nothing in a process that was started without a lifeline.
    """
    named = os.environ.pop(LIFELINE, None)
    if named is None:
        return
    descriptor = int(named)
    os.set_inheritable(descriptor, False)

    def wait() -> None:
        os.read(descriptor, 1)
        cut()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
