"""`Channel`: one SSH connection to a host, and the agent behind it.

The agent's code goes with the connection into the host's memory; when the connection ends, so does the
agent. The connection is also the master that Ansible's run through: a host needs one login.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import execnet
from execnet.gateway_base import Popen2IO, get_execmodel
from execnet.gateway_bootstrap import bootstrap
from execnet.gateway_io import Popen2IOMaster, popen_bootstrapline

from density_study.cluster.model.errors import HostLostError, InputError, StudyError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.agent import ERRORS
from density_study.cluster.providers.ssh.options import find_program, ssh_options
from density_study.cluster.providers.ssh.toolkit import toolkit
from density_study.cluster.state.runtime import check_own, runtime_dir

T = TypeVar("T")
CALL_TIMEOUT_S = 60.0
READY_TIMEOUT_S = 40.0
MAX_SOCKET_PATH = 90
PING_EVERY_S = 4.0
SILENT_S = 20.0
"""An agent that hears nothing for this long ends, so that a request delivered later is not executed. Else
a broken network that comes back would deliver requests to a host that was cleaned up meanwhile."""
SERVE = """
import os, sys
toolkit = os.memfd_create("toolkit")
os.write(toolkit, channel.receive())
sys.path.insert(0, f"/proc/self/fd/{toolkit}")
from density_study.cluster.providers.ssh.agent import serve
serve(channel, channel.receive())
"""
_FATAL = ("Host key verification failed", "Permission denied", "REMOTE HOST IDENTIFICATION")
_ENDED = (OSError, EOFError, AssertionError, execnet.RemoteError)
"""What execnet raises where a connection or its other end is no more."""


class _Ssh(Popen2IOMaster):
    """`ssh` as execnet talks through it."""

    def __init__(self, target: Target) -> None:
        remote = shlex.join(["python3", "-I", "-c", popen_bootstrapline])
        master = ("-o", "ControlMaster=yes", "-o", f"ControlPath={control_path(target)}")
        options = (*ssh_options(target), *master, "-T", target.address)
        control_path(target).unlink(missing_ok=True)  # of one that was killed
        self.popen = subprocess.Popen(
            (find_program("ssh"), *options, remote),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us: tear-down still needs the connection
        )
        Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, get_execmodel("thread"))


class Channel:
    """Requests go one at a time; any number of threads may ask."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._io = _Ssh(target)
        self._ssh = self._io.popen
        with self._within(READY_TIMEOUT_S):
            gateway = bootstrap(self._io, execnet.XSpec("ssh//execmodel=thread"))
            self._agent = gateway.remote_exec(SERVE)
            self._agent.send(toolkit())
            self._agent.send(SILENT_S * target.timeout_scale)
            self._agent.receive()
        threading.Thread(target=self._ping, daemon=True, name=f"ping {target.host}").start()

    def _ping(self) -> None:
        with contextlib.suppress(*_ENDED):
            while self.open and not self._closed.wait(PING_EVERY_S):
                self._agent.send(None)

    @property
    def open(self) -> bool:
        return self._ssh.poll() is None

    def call(self, verb: str, *arguments: Any, timeout_s: float = CALL_TIMEOUT_S) -> Any:
        """The agent's answer. HostLostError if the connection is gone or nothing comes in time."""
        with self._lock, self._within(timeout_s):
            self._agent.send((verb, *arguments))
            answer = self._agent.receive()
        if "ok" not in answer:
            raise_failure(answer, f"host {self.target.host!r}")
        return answer["ok"]

    def act(self, name: str, *arguments: Any) -> Any:
        """The result of one of `cluster.machine.host_commands` on the host."""
        return self.call("act", name, list(arguments))

    @contextlib.contextmanager
    def _within(self, timeout_s: float) -> Iterator[None]:
        """Ends the connection after that time: sending may block as well as receiving."""
        limit_s = timeout_s * self.target.timeout_scale
        deadline = time.monotonic() + limit_s
        limit = threading.Timer(limit_s, self._ssh.kill)
        limit.start()
        try:
            yield
        except BaseException as error:
            self.close()  # else the next request would be given this one's answer
            if not isinstance(error, _ENDED):
                raise
            reason = "the connection ended"
            if time.monotonic() >= deadline:
                reason = f"no answer within {limit_s:.0f} s"
            elif isinstance(error, execnet.RemoteError):
                reason = f"the agent ended: {str(error).splitlines()[-1]}"
            elif isinstance(error, AssertionError):
                reason = "what answered is not Python (does a login script print something?)"
            raise self._lost(reason) from error
        finally:
            limit.cancel()

    def close(self) -> None:
        """End the connection, and the agent with it. Again: nothing."""
        self._closed.set()
        with contextlib.suppress(BrokenPipeError):
            self._io.close_write()
        try:
            self._ssh.wait(2.0)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            self._ssh.wait()

    def _lost(self, reason: str) -> HostLostError | InputError:
        """With the output of ssh; a refused key or an unknown host is bad input."""
        error = self._ssh.stderr.read().decode(errors="replace").strip()[-500:]
        if any(fatal in error for fatal in _FATAL):
            return InputError(
                f"SSH was refused: {error.splitlines()[-1]}.",
                str(self.target),
                "check the user, the key, and the host's entry in known_hosts.",
            )
        return HostLostError(
            f"{reason}{': ' + error if error else ''}.",
            str(self.target),
            "bring the host back, and run `study reap`.",
        )


def raise_failure(answer: Mapping[str, Any], host: str) -> None:
    """Raise the exception that an agent's answer describes, with the host where it happened."""
    kind, what = answer["error"], answer["what"]
    if kind in ERRORS:
        raise ERRORS[kind](what, f"{host}, {answer['where']}", answer["remedy"])
    if kind == "FileNotFoundError":
        raise FileNotFoundError(2, "no such file", f"{host}:{what}")
    if kind == "TimeoutError":
        raise TimeoutError(what)
    raise StudyError(f"{what}.", host, "read the host's own logs, and try again.")


def control_path(target: Target) -> Path:
    """One per process: it dies with its master. Where the runtime folder's path is too long for a socket
    (108 bytes, and ssh appends 17 while it makes one), it is in a folder of this user's below /tmp."""
    key = sha256(f"{os.getpid()} {target}".encode()).hexdigest()[:16]
    path = runtime_dir() / f"ssh-{key}"
    if len(str(path)) < MAX_SOCKET_PATH:
        return path
    folder = Path(f"/tmp/density-study-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    check_own(folder)
    return folder / path.name


_open: dict[Target, Channel] = {}


def channel(target: Target) -> Channel:
    """The process's channel to a host; opened anew if it is not, or no longer, there."""
    known = _open.get(target)
    if known is None or not known.open:
        known = _open[target] = Channel(target)
    return known


def close_channels() -> None:
    """End every connection of this process."""
    while _open:
        _open.popitem()[1].close()


def on_all(hosts: Mapping[str, Target], act: Callable[[str, Target], T]) -> dict[str, T]:
    """The result of `act` for each host, all at once; raises the first error when all have ended."""
    with ThreadPoolExecutor(max_workers=max(1, len(hosts))) as pool:
        begun = {host: pool.submit(act, host, target) for host, target in hosts.items()}
    return {host: answer.result() for host, answer in begun.items()}


def try_all(
    hosts: Mapping[str, Target], act: Callable[[str, Target], T]
) -> tuple[dict[str, T], list[str]]:
    """The same; hosts that do not answer are named instead."""

    def tried(host: str, target: Target) -> T | HostLostError:
        try:
            return act(host, target)
        except HostLostError as error:
            return error

    answers = on_all(hosts, tried)
    lost = [host for host, answer in answers.items() if isinstance(answer, HostLostError)]
    found = {h: a for h, a in answers.items() if not isinstance(a, HostLostError)}
    return found, lost
