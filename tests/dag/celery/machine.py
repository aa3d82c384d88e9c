"""`Machine`: a PID namespace with mounts of its own. All that is started in it ends with this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from density_study.cluster.state.tags import TAG

_INIT = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for orphans
print("up", flush=True)
while True:
    signal.pause()
"""
# Like systemd's Restart=always.
_AGAIN = 'while :; do "$@"; echo "ended with $?"; sleep 2; done'
_NAMED = 'hostname "$1"; shift; exec "$@"'


class Machine:
    """Needs root. Networks and files are those outside, except for what is mounted here."""

    def __init__(self) -> None:
        argv = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--fork", "--kill-child",
                "--mount", "--mount-proc", sys.executable, "-c", _INIT]  # fmt: skip
        self._unshare = subprocess.Popen(argv, stdout=subprocess.PIPE)
        assert self._unshare.stdout is not None
        assert self._unshare.stdout.readline() == b"up\n"
        (init,) = psutil.Process(self._unshare.pid).children()
        self._enter = ["nsenter", f"--target={init.pid}", "--pid", "--mount", "--"]

    def run(self, *argv: str, environment: Mapping[str, str] = os.environ) -> str:
        """Its output. AssertionError with the error output if it fails."""
        done = subprocess.run(
            [*self._enter, *argv], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(argv)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def unit(
        self, argv: list[str], environment: Mapping[str, str], log: Path, host: str = ""
    ) -> Unit:
        """Start a service that is started again whenever it ends. `host`: the host name that it sees."""
        named = ["unshare", "--uts", "sh", "-c", _NAMED, "sh", host] if host else []
        return Unit([*self._enter, *named, "sh", "-c", _AGAIN, "sh", *argv], environment, log)

    def close(self) -> None:
        self._unshare.kill()
        self._unshare.wait()


class Unit:
    """A service and its processes. The clients of trials are not among them: they outlive a worker."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], log: Path) -> None:
        self._argv, self._environment, self.log = argv, environment, log
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._argv, env=self._environment, stdout=output, stderr=output
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """All at once with SIGKILL, as when the machine runs out of memory; it does not come back."""
        family = [psutil.Process(self._process.pid)]
        family += family[0].children(recursive=True)
        for process in family:  # parents first, so that nothing is started again
            with suppress(psutil.NoSuchProcess):
                if not _is_client(process):
                    process.kill()
        self._process.wait()


def _is_client(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return TAG in process.environ()
    return False
