"""`Channel`: one SSH connection to a host, and the agent behind it.

The agent's code goes with the connection into the host's memory; when the connection ends, so does the
agent. The connection is also the master that Ansible's run through: a host is signed on to once.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

from cluster.model.errors import HostLostError, InputError
from cluster.providers.ssh.options import ssh_options, ssh_program
from cluster.providers.ssh.target import Target
from cluster.providers.ssh.toolkit import toolkit
from cluster.providers.ssh.wire import encode, raise_failure
from cluster.state.runtime import check_own, runtime_dir

CALL_TIMEOUT_S = 60.0
READY_TIMEOUT_S = 40.0
MAX_SOCKET_PATH = 90
_BOOT = (
    "import os,sys; n=int(sys.argv[1]); b=sys.stdin.buffer.read(n); f=os.memfd_create('toolkit'); "
    "os.write(f,b); sys.path.insert(0,'/proc/self/fd/%d'%f); "
    "from cluster.providers.ssh.agent import main; main()"
)
_FATAL = ("Host key verification failed", "Permission denied", "REMOTE HOST IDENTIFICATION")


class Channel:
    """Requests go one at a time; any number of threads may ask."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._buffer = b""
        self._ssh = self._connect()
        try:
            self._answer(READY_TIMEOUT_S * target.timeout_scale)
        except BaseException:
            self.close()
            raise

    @property
    def open(self) -> bool:
        return self._ssh.poll() is None

    def call(self, verb: str, *arguments: Any, timeout_s: float = CALL_TIMEOUT_S) -> Any:
        """The agent's answer. HostLostError if the connection is gone or nothing comes in time."""
        with self._lock:
            try:
                assert self._ssh.stdin is not None
                self._ssh.stdin.write(encode([verb, *arguments]))
                self._ssh.stdin.flush()
            except (BrokenPipeError, ValueError) as error:
                self.close()
                raise self._lost("the connection is closed") from error
            answer = self._answer(timeout_s * self.target.timeout_scale)
        if "ok" not in answer:
            raise_failure(answer, f"host {self.target.host!r}")
        return answer["ok"]

    def close(self) -> None:
        """End the connection, and the agent with it. Again: nothing."""
        for stream in (self._ssh.stdin, self._ssh.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        try:
            self._ssh.wait(2.0)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            self._ssh.wait()

    def _connect(self) -> subprocess.Popen[bytes]:
        code = toolkit()
        remote = shlex.join(["python3", "-I", "-c", _BOOT, str(len(code))])
        master = ("-o", "ControlMaster=yes", "-o", f"ControlPath={control_path(self.target)}")
        argv = (
            ssh_program(),
            *ssh_options(self.target),
            *master,
            "-T",
            self.target.address,
            remote,
        )
        control_path(self.target).unlink(missing_ok=True)  # of one that was killed
        ssh = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us: tear-down still needs the connection
        )
        assert ssh.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # why is said when the answer does not come
            ssh.stdin.write(code)
            ssh.stdin.flush()
        return ssh

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        assert self._ssh.stdout is not None
        deadline = time.monotonic() + timeout_s
        descriptor = self._ssh.stdout.fileno()
        while b"\n" not in self._buffer:
            left_s = deadline - time.monotonic()
            ready, _, _ = select.select([descriptor], [], [], max(left_s, 0))
            chunk = os.read(descriptor, 1 << 20) if ready else b""
            if not chunk:
                said = (
                    f"no answer within {timeout_s:.0f} s" if not ready else "the connection ended"
                )
                if not ready:
                    self._ssh.kill()
                raise self._lost(said)
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _lost(self, said: str) -> HostLostError | InputError:
        """With what ssh said; a refused key or an unknown host is bad input."""
        error = self._error_output()
        if any(fatal in error for fatal in _FATAL) and not self._buffer:
            return InputError(
                f"SSH was refused: {error.splitlines()[-1] if error else said}.",
                str(self.target),
                "check the user, the key, and the host's entry in known_hosts.",
            )
        return HostLostError(
            f"{said}{': ' + error if error else ''}.",
            str(self.target),
            "bring the host back, and run `study reap`.",
        )

    def _error_output(self) -> str:
        try:
            self._ssh.wait(1.0)
        except subprocess.TimeoutExpired:
            return ""
        assert self._ssh.stderr is not None
        return self._ssh.stderr.read().decode(errors="replace").strip()[-500:]


def control_path(target: Target) -> Path:
    """One a process: it dies with its master. Where the runtime folder's path is too long for a socket
    (108 bytes, and ssh appends 17 while it makes one), a folder of this user's below /tmp."""
    key = sha256(f"{os.getpid()} {target}".encode()).hexdigest()[:16]
    path = runtime_dir() / f"ssh-{key}"
    if len(str(path)) < MAX_SOCKET_PATH:
        return path
    folder = Path(f"/tmp/density-study-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    check_own(folder)
    return folder / path.name


_open: dict[Target, Channel] = {}
_opening = threading.Lock()


def channel(target: Target) -> Channel:
    """The process's channel to a host; opened anew if it is not, or no longer, there."""
    with _opening:
        known = _open.get(target)
    if known is not None and known.open:
        return known
    made = Channel(target)
    with _opening:
        _open[target] = made
    return made


def channels(targets: Mapping[str, Target]) -> dict[str, Channel]:
    """All of them, opened at the same time. The first error is raised."""
    unique = list(dict.fromkeys(targets.values()))
    if not unique:
        return {}
    with ThreadPoolExecutor(max_workers=len(unique)) as pool:
        made = dict(zip(unique, pool.map(channel, unique), strict=True))
    return {name: made[target] for name, target in targets.items()}


def close_channels() -> None:
    """End every connection of this process."""
    with _opening:
        for one in _open.values():
            one.close()
        _open.clear()
