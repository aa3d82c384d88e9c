"""Ports of this machine: which ones are taken, and by which process."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import atomic
from density_study.cluster.state.runtime import runtime_dir

Address = tuple[str, int]
_CONNECTED_WITHIN_S = 3.0
_AT_ONCE = 64


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


@contextmanager
def _unless_taken() -> Iterator[None]:
    """`check_free` names the holder of a port."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise


_answering: list[socket.socket] = []


def answer_at(address: str, ports: Sequence[int]) -> list[int]:
    """Listen on these ports in place of those before, 0 being one that the kernel chooses; returns them.
    Nothing is accepted: connecting is enough. InputError if others could not connect to a daemon there."""
    while _answering:
        _answering.pop().close()
    try:
        for port in ports:
            with _unless_taken():
                _answering.append(socket.create_server((address, port), backlog=1024))
    except OSError as error:
        raise InputError(
            f"nothing can listen on {address}: {error.strerror or error}.",
            f"hosts, address {address}",
            "write an IPv4 address of the host, or a name that has one: Hadoop does not support IPv6.",
        ) from error
    names = [server.getsockname() for server in _answering]
    if any(name[0].startswith("127.") for name in names) and not address.startswith("127."):
        raise InputError(
            f"the host itself resolves {address} to {names[0][0]}: no other host could reach its "
            "daemons.",
            f"hosts, address {address}",
            "give the name its real address in the host's /etc/hosts (Debian writes 127.0.1.1), or write the "
            "IPv4 address in the study.",
        )
    return [name[1] for name in names]


def not_reached(addresses: Sequence[Address]) -> list[str]:
    """The addresses to which this machine cannot connect, each with the reason."""
    faults = zip(addresses, _faults(addresses), strict=True)
    return [f"{host}:{port} ({why.strerror or why})" for (host, port), why in faults if why]


def answering(hosts: Sequence[str], port: int) -> list[str]:
    """The addresses at which there is a machine: a refusal is also an answer."""
    faults = zip(hosts, _faults([(host, port) for host in hosts]), strict=True)
    return [host for host, why in faults if why is None or isinstance(why, ConnectionRefusedError)]


def _faults(addresses: Sequence[Address]) -> list[OSError | None]:
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return list(pool.map(_fault_of, map(tuple, addresses)))


def _fault_of(address: Address) -> OSError | None:
    try:
        socket.create_connection(address, _CONNECTED_WITHIN_S).close()
    except OSError as error:
        return error
    return None


def holder(port: int) -> str:
    """A description of the process that listens on `port`, from /proc."""
    pid = listener(port)
    if pid is None:
        return "a process that /proc does not show to this user"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        command = words.decode(errors="replace")  # a process may have any name
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
