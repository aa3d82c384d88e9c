"""`Child`: a process of ours that ends when we do, seen from its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

from dags.airflow_home.lifeline import VARIABLE


class Child:
    """A running child at the other end of a lifeline. As a context: gone on the way out."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], log: Path) -> None:
        """Start `argv` in a session of its own, with `environment` added; output goes to `log`."""
        reading, self._lifeline = os.pipe()
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, **environment, VARIABLE: str(reading)},
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
        """Exit code (negative for a signal), or None if it still runs after `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def cut(self) -> None:
        """Close the lifeline: the child is to end, and knows how. Safe to repeat."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def end(self, grace_s: float) -> None:
        """Wait out the grace, then kill what is left: the child, and processes it started."""
        if self.wait(grace_s) is not None:
            return
        family = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
        for process in family:
            try:
                process.kill()  # psutil compares start times: never a later process of that pid
            except psutil.NoSuchProcess:
                continue
        self._process.wait()


def python(module: str, *arguments: str) -> list[str]:
    """argv that runs a module of this program with the Python that runs this."""
    return [sys.executable, "-m", module, *arguments]
