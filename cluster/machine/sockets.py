"""Ports of this machine: which ones are taken, and by which process."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import atomic
from density_study.cluster.state.runtime import runtime_dir

Address = tuple[str, int]


def is_taken(address: Address) -> bool:
    """Whether a daemon could not listen there. The test sets what Java sets: SO_REUSEADDR."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError:
            return True
    return False


def check_free(addresses: Iterable[Address]) -> None:
    """InputError that names the first port taken and the process that holds it."""
    for address in addresses:
        if is_taken(address):
            raise InputError(
                f"port {address[1]} on {address[0]} is taken by {holder(address[1])}.",
                "stack.base_port",
                "stop that process, or set stack.base_port to the start of a free range.",
            )


@contextmanager
def reserved(addresses: Iterable[Address]) -> Iterator[None]:
    """Hold the ports with a lock from the check until the daemons listen on them."""
    wanted = sorted(addresses)
    with atomic.locked(runtime_dir() / f"ports-{wanted[0][1]}.lock"):
        check_free(wanted)
        yield


def holder(port: int) -> str:
    """A description of the process that listens on `port`, from /proc."""
    pid = listener(port)
    if pid is None:
        return "a process that /proc does not show to this user"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return f"process {pid}, which has just ended"
    return f"process {pid} ({command.strip()[:80]})"


def listener(port: int) -> int | None:
    """Pid of the process that listens on `port`; None if there is none, or it is another user's."""
    inodes = _listening_inodes(port)
    for process in Path("/proc").glob("[0-9]*") if inodes else ():
        if inodes & _socket_inodes(process):
            return int(process.name)
    return None


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        rows = table.read_text().splitlines()[1:] if table.exists() else []
        for fields in map(str.split, rows):
            if int(fields[1].rpartition(":")[2], 16) == port and fields[3] == "0A":
                found.add(fields[9])
    return found


def _socket_inodes(process: Path) -> set[str]:
    found = set()
    try:
        for descriptor in (process / "fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        pass  # gone meanwhile, or another user's: then it cannot be named
    return found
