"""A network namespace of a build's own, so that no other user of this machine reaches its daemons.

    python -m density_study.cluster.machine.other_users.private_network DOOR

Run by `unshare`, it holds the namespace as long as it lives. A socket belongs to the namespace in which it
was made, whoever uses it. So the holder makes sockets and hands them out at DOOR, a Unix socket that only its
user may use, and the controller connects them from outside. Standard library only.
"""

from __future__ import annotations

import errno
import fcntl
import http.client
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.tags import short_hash

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR, _IFF_UP = 0x8913, 0x8914, 0x8916, 1
_NAME = re.compile(r"net-[0-9a-f]{12}")
_PROBE_S = 30.0
_MADE_WITHIN_S = 0.5
_PROBE = "probe"


def name_of(tag: str) -> str:
    """The name of a build's network."""
    return f"net-{short_hash(tag)}"


def door_of(network: str) -> Path:
    """OSError unless it is a name of ours: records of others may hold any."""
    if not _NAME.fullmatch(network):
        raise FileNotFoundError(errno.ENOENT, "no such network", network)
    return runtime_dir() / network


def sweep(dry_run: bool = False) -> list[Path]:
    """Remove the doors whose holders were killed; returns them. One that is being made refuses only for a
    moment. A dry run removes nothing."""
    dead = [
        door
        for door in runtime_dir().glob("net-*")
        if _NAME.fullmatch(door.name) and door.is_socket() and _is_dead(door)
    ]
    if dead:
        time.sleep(_MADE_WITHIN_S)
    dead = list(filter(_is_dead, dead))
    for door in () if dry_run else dead:
        door.unlink(missing_ok=True)
    return dead


def _is_dead(door: Path) -> bool:
    """Whether nobody listens there any more."""
    with _at(door) as path, socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:  # busy, or gone meanwhile
            return False
    return False


def made_by() -> tuple[str, ...]:
    """Words that run a command in a new namespace. Without root, only a user namespace of one's own gives
    the right to make one; the user stays who it is."""
    own = () if os.geteuid() == 0 else ("--user", "--map-current-user", "--keep-caps")
    return ("unshare", *own, "--net", "--")


def holder_argv(door: Path | str) -> tuple[str, ...]:
    return (*made_by(), sys.executable, "-m", __name__, str(door))


@cache
def obstacle() -> str:
    """Why this user cannot have a network namespace here; empty if it can."""
    try:
        done = subprocess.run(
            holder_argv(_PROBE),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return said[-1] if done.returncode else ""


def entry(network: str) -> tuple[str, ...]:
    """Words that run a command in the network: none in this machine's own. OSError if its holder is gone."""
    if not network:
        return ()
    with _door(network, None) as (_, pid):
        pass
    own = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
    return ("nsenter", "--target", str(pid), *own, "--net", "--")


def connect(network: str, address: tuple[str, int], timeout_s: float | None) -> socket.socket:
    """A connection to an address of the network, or of this machine's own. OSError as usual, and if the
    network's holder is gone."""
    if not network:
        return socket.create_connection(address, timeout_s)
    made = _made_in(network, timeout_s)
    try:
        made.settimeout(timeout_s)
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


class Connection(http.client.HTTPConnection):
    """HTTP to a web server of the network."""

    def __init__(self, address: str, network: str, timeout_s: float) -> None:
        super().__init__(address, timeout=timeout_s)
        self._network, self._timeout_s = network, timeout_s

    def connect(self) -> None:
        self.sock = connect(self._network, (self.host, self.port), self._timeout_s)


@contextmanager
def _door(network: str, timeout_s: float | None) -> Iterator[tuple[socket.socket, int]]:
    """A connection to the holder, and its pid. OSError if it is another user's: were the folder open to all,
    anyone could put a door there."""
    with _at(door_of(network)) as path, socket.socket(socket.AF_UNIX) as door:
        door.settimeout(timeout_s)
        door.connect(path)
        size = struct.calcsize("3i")
        credentials = door.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        pid, uid, _ = struct.unpack("3i", credentials)
        if uid != os.geteuid():
            raise PermissionError(errno.EPERM, f"its holder, process {pid}, is another user's")
        yield door, pid


def _made_in(network: str, timeout_s: float | None) -> socket.socket:
    with _door(network, timeout_s) as (door, _):
        _, descriptors, _, _ = socket.recv_fds(door, 1, 1)
    if not descriptors:
        raise ConnectionResetError(f"the holder of {network} gave no socket")
    return socket.socket(fileno=descriptors[0])


@contextmanager
def _at(path: Path) -> Iterator[str]:
    """A short path to the same file: the kernel takes 107 bytes for the path of a socket."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", name, flags | _IFF_UP))


def _keep_own_name() -> None:
    """Java asks for the address of this machine's name, and connects to it. There is no DNS here."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        raise SystemExit(f"this machine's name, {name}, is not in /etc/hosts") from None
    if not address.startswith("127."):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            wanted = socket.AF_INET, 0, socket.inet_aton(address)
            fcntl.ioctl(any_socket, _SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo:1", *wanted))


def _serve(door: Path) -> None:
    """Hand out a socket to each caller, until this process is ended."""
    os.umask(0o077)  # only this user may connect
    with _at(door) as path, socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(128)
        while True:
            caller, _ = server.accept()
            with caller, suppress(OSError), socket.socket() as made:  # a caller may be gone
                socket.send_fds(caller, [b"."], [made.fileno()])


if __name__ == "__main__":
    _bring_up_loopback()
    _keep_own_name()
    if sys.argv[1] != _PROBE:
        _serve(Path(sys.argv[1]))
