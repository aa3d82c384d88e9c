"""Sends commands to a running JVM, like jcmd, which hosts with only a runtime do not have.

The protocol is HotSpot's own, the same from JDK 5 to 25: a file .attach_pid<pid> and SIGQUIT make the JVM
open a socket .java_pid<pid>. Linux, JVMs of the same user, standard library only.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

DEADLINE_S = 10.0
_PROC = Path("/proc")


def jcmd(pid: int, command: str, within_s: float = DEADLINE_S) -> str:
    """The answer to a diagnostic command: `VM.log list`. OSError if the JVM does not answer, or refuses."""
    return _send(pid, within_s, "jcmd", command)


def load_agent(pid: int, library: Path, options: str, within_s: float) -> None:
    """Load a native agent, or call it again if it is loaded. OSError if it refuses."""
    answer = _send(pid, within_s, "load", str(library), "true", options)
    # the agent's own code: "return code: 0", or only the number before JDK 21
    if answer.strip().rpartition(" ")[2] not in ("0", ""):
        raise OSError(f"JVM {pid} refused {library.name}: {answer.strip()}")


def _send(pid: int, within_s: float, name: str, *arguments: str) -> str:
    own = _own_pid(pid)
    path = _PROC / str(pid) / "root" / "tmp" / f".java_pid{own}"
    if not path.is_socket():
        _open_socket(pid, own, path, within_s)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(within_s)
        connection.connect(str(path))
        words = ("1", name, *arguments, *("",) * (3 - len(arguments)))
        connection.sendall("".join(f"{word}\0" for word in words).encode())
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    code, _, text = b"".join(parts).decode(errors="replace").partition("\n")
    if code != "0":
        raise OSError(f"JVM {pid} refused {name} {' '.join(arguments)}: {text.strip() or code}")
    return text


def _open_socket(pid: int, own: int, path: Path, within_s: float) -> None:
    asking = _PROC / str(pid) / "cwd" / f".attach_pid{own}"
    asking.touch()
    try:
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + within_s
        while not path.is_socket():
            if time.monotonic() > deadline:
                raise TimeoutError(f"JVM {pid} does not open {path.name}")
            time.sleep(0.02)
    finally:
        with suppress(OSError):
            asking.unlink()


def _own_pid(pid: int) -> int:
    """Its pid in its own namespace."""
    for line in (_PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return pid
