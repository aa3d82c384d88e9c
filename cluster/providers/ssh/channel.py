"""`Channel`: one SSH connection to a host, and the agent behind it.

The agent's code goes with the connection into the host's memory; when the connection ends, so does the
agent. What the host answers is not trusted: see `answers`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import threading
import time
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from density_study.cluster.model.errors import HostLostError, InputError, StudyError, each_of
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import wire
from density_study.cluster.providers.ssh.agent import ERRORS
from density_study.cluster.providers.ssh.answers import Failure, checked, checked_failure
from density_study.cluster.providers.ssh.options import find_program, ssh_options
from density_study.cluster.providers.ssh.toolkit import toolkit

T = TypeVar("T")
A = TypeVar("A")
CALL_TIMEOUT_S = 60.0
READY_TIMEOUT_S = 40.0
CHUNK_BYTES = 2 * 2**20
"""Bytes of a file's content in one message."""
MAX_ANSWER_BYTES = 4 * 2**20
PING_EVERY_S = 4.0
SILENT_S = 20.0
"""An agent that hears nothing for this long ends, so that a request delivered later is not executed. Else
a broken network that comes back would deliver requests to a host that was cleaned up meanwhile."""
SERVE = """
import os, sys
requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.dup2(2, 1)
size, silent_s = requests.readline().split()
toolkit = os.memfd_create("toolkit")
with os.fdopen(toolkit, "wb", closefd=False) as file:
    file.write(requests.read(int(size)))
sys.path.insert(0, f"/proc/self/fd/{toolkit}")
from density_study.cluster.providers.ssh.agent import serve
serve(requests, answers, float(silent_s))
"""
"""The first program on the host. Only the connection keeps its streams: children inherit others."""
_CLOSED_WITHIN_S = 2.0
_MAX_ERROR_BYTES = 2**17
"""More than a pipe holds."""
_OF_SSH = 255
"""Exit code of ssh for its own errors; else it is that of the remote program."""
_FATAL = ("Host key verification failed", "Permission denied", "REMOTE HOST IDENTIFICATION")
_ENDED = (OSError, EOFError, ValueError, wire.WireError)
"""What is raised where a connection is no more, or carries something else than answers."""


class Channel:
    """Requests go one at a time; any number of threads may ask."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._sending = threading.Lock()  # a ping may go while an answer is awaited
        self._closed = threading.Event()
        self._greeted = False
        self._numbers = count(1)
        remote = shlex.join([*target.environment, target.python, "-I", "-c", SERVE])
        self._ssh = subprocess.Popen(
            (find_program("ssh"), *ssh_options(target), "-T", "--", target.address, remote),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us: tear-down still needs the connection
        )
        assert self._ssh.stdin and self._ssh.stdout and self._ssh.stderr
        self._requests, self._answers = self._ssh.stdin, self._ssh.stdout
        self._errors = self._ssh.stderr
        with self._within(READY_TIMEOUT_S):
            self._requests.write(f"{len(toolkit())} {SILENT_S * target.timeout_scale}\n".encode())
            self._requests.write(toolkit())
            self._requests.flush()
            try:
                self._answer(0)
            except wire.WireError as error:
                raise wire.WireError(f"{error} (does a login script print something?)") from error
        self._greeted = True
        threading.Thread(target=self._ping, daemon=True, name=f"ping {target.host}").start()

    def _ping(self) -> None:
        with contextlib.suppress(*_ENDED):
            while self.open and not self._closed.wait(PING_EVERY_S):
                self._send([])

    @property
    def open(self) -> bool:
        return self._ssh.poll() is None

    def call(self, verb: str, *arguments: Any, timeout_s: float = CALL_TIMEOUT_S) -> Any:
        """The agent's answer, of the type that `answers` names. HostLostError if the connection is gone,
        nothing comes in time, or something else comes."""
        with self._lock, self._within(timeout_s):
            number = next(self._numbers)
            self._send([number, verb, *arguments])
            answer = self._answer(number)
            failure = None
            if "ok" in answer:
                value = checked(verb, arguments, answer["ok"])
            else:
                failure = checked_failure(answer)
        if failure is not None:
            raise_failure(failure, f"host {self.target.host!r}", verb)
        return value

    def act(self, name: str, *arguments: Any) -> Any:
        """The result of one of `cluster.machine.host_commands` on the host."""
        return self.call("act", name, list(arguments))

    def put(self, path: str, content: bytes) -> None:
        """Write a small file at once: readers see the old one or the new one."""
        self.call("put", path, b64encode(content).decode())

    def send(self, file: Path, path: str) -> None:
        """Copy a file of any size."""
        with file.open("rb") as stream:
            for offset in count(step=CHUNK_BYTES):
                part = stream.read(CHUNK_BYTES)
                if not part and offset:
                    break
                self.call("append", path, offset, b64encode(part).decode())

    def read(self, path: str, offset: int = 0) -> bytes:
        """At most `CHUNK_BYTES` of a file; less at its end. FileNotFoundError if there is none."""
        content: bytes = self.call("read", path, offset, CHUNK_BYTES)
        return content[:CHUNK_BYTES]

    def _send(self, request: list[Any]) -> None:
        with self._sending:
            wire.send(self._requests, request)

    def _answer(self, number: int) -> dict[str, Any]:
        answer = wire.receive(self._answers, MAX_ANSWER_BYTES)
        if not isinstance(answer, dict) or answer.get("number") != number:
            raise wire.WireError("not the answer to the request")
        return answer

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
            elif isinstance(error, wire.WireError):
                reason = f"what it answers is not understood: {error}"
            raise self._lost(reason) from error
        finally:
            limit.cancel()

    def close(self) -> None:
        """End the connection, and the agent with it. Again: nothing."""
        self._closed.set()
        limit = threading.Timer(_CLOSED_WITHIN_S, self._ssh.kill)
        limit.start()
        with contextlib.suppress(OSError):
            self._requests.close()
        self._ssh.wait()
        limit.cancel()

    def _lost(self, reason: str) -> HostLostError | InputError:
        """The error, with the output of ssh. A refused key or an unknown host is bad input: then ssh itself
        ends, before an agent has answered. Programs of the host may print the same words."""
        os.set_blocking(self._errors.fileno(), False)  # a jump host's ssh may still hold it
        printed = self._errors.read(_MAX_ERROR_BYTES) or b""
        error = printed.decode(errors="replace").strip()[-500:]
        refused = self._ssh.returncode == _OF_SSH and not self._greeted
        if refused and any(fatal in error for fatal in _FATAL):
            return InputError(
                f"SSH was refused: {error.splitlines()[-1]}.",
                str(self.target),
                f"make `{self.target.login} true` work from this machine: user, key and known_hosts.",
            )
        return HostLostError(
            f"{reason}{': ' + error if error else ''}.",
            str(self.target),
            f"check that `{self.target.login} true` works from this machine; if a run used the host, run "
            "`study reap` then.",
        )


def raise_failure(answer: Failure, host: str, verb: str = "") -> None:
    """Raise the exception that an agent's answer to `verb` describes, with the host where it happened."""
    kind, what = answer["error"], answer["what"]
    if kind in ERRORS:
        where, remedy = answer.get("where", ""), answer.get("remedy", "")
        raise ERRORS[kind](what, f"{host}, {where}", remedy)
    if (verb, kind) == ("read", "FileNotFoundError"):
        raise FileNotFoundError(2, "no such file", f"{host}:{what}")
    if (verb, kind) == ("wait", "TimeoutError"):
        raise TimeoutError(what)
    if kind == "FileNotFoundError":
        what = f"{what} does not exist"
    raise StudyError(f"{what}.", host, "read the host's own logs, and try again.")


_open: dict[Target, Channel] = {}
_opening: defaultdict[Target, threading.Lock] = defaultdict(threading.Lock)


def channel(target: Target) -> Channel:
    """The process's channel to a host; opened anew if it is not, or no longer, there. Threads share it: an
    agent knows only the processes that it started itself."""
    with _opening[target]:
        known = _open.get(target)
        if known is None or not known.open:
            known = _open[target] = Channel(target)
        return known


def close_channels() -> None:
    """End every connection of this process."""
    while _open:
        _open.popitem()[1].close()


def on_all(hosts: Mapping[str, A], act: Callable[[str, A], T]) -> dict[str, T]:
    """The result of `act` for each host, all at once. When all have ended, it raises as `each_of`."""
    with ThreadPoolExecutor(max_workers=max(1, len(hosts))) as pool:
        begun = {host: pool.submit(act, host, target) for host, target in hosts.items()}
    return dict(zip(begun, each_of(begun.values(), Future.result), strict=True))


def try_all(hosts: Mapping[str, A], act: Callable[[str, A], T]) -> dict[str, T]:
    """The same for the hosts that answer."""

    def tried(host: str, target: A) -> T | HostLostError:
        try:
            return act(host, target)
        except HostLostError as error:
            return error

    answers = on_all(hosts, tried)
    return {h: a for h, a in answers.items() if not isinstance(a, HostLostError)}


def look_on_all(hosts: Mapping[str, A], look: Callable[[str, A], Iterable[str]]) -> tuple[str, ...]:
    """What `look` finds on each host. A host on which nothing can be looked at is named instead."""

    def looked(host: str, target: A) -> Iterable[str]:
        try:
            return tuple(look(host, target))
        except HostLostError:
            return (f"host {host} (does not answer)",)
        except StudyError as error:
            return (f"host {host} (unknown: {error.what.rstrip('.')})",)

    return tuple(chain.from_iterable(on_all(hosts, looked).values()))
