"""A cluster's web pages for a browser on this machine, where the cluster has a network of its own.

Connections to the pages' addresses are carried into that network, if their other end is this user's.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from density_study.cluster.machine.other_users.private_network import connect
from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.errors import InputError

Address = tuple[str, int]
_TIMEOUT_S = 10.0
_CHUNK_BYTES = 65536
_UID_FIELD = 7
"""The field of a line of /proc/net/tcp that holds the user id, after the local and the remote address."""


def pages_of(endpoints: Endpoints) -> list[Address]:
    pages = (kind for kind in endpoints.services if kind == "jmx" or kind.endswith(".http"))
    every = (address for kind in pages for address in endpoints.all(kind).values())
    split = (address.rpartition(":") for address in dict.fromkeys(every) if address)
    return [(host, int(port)) for host, _, port in split]


def carry(network: str, addresses: Iterable[Address]) -> ExitStack:
    """Forward these addresses of this machine into the build's network, until the returned stack is closed.
    InputError if an address is taken."""
    servers = ExitStack()
    for address in addresses:
        try:
            server = servers.enter_context(socket.create_server(address))
        except OSError as error:
            servers.close()
            raise InputError(
                f"its web pages are at {address[0]}:{address[1]}, which is taken here: {error.strerror}.",
                "study shell --pages",
                "stop the program that listens there.",
            ) from error
        servers.callback(server.shutdown, socket.SHUT_RDWR)  # wakes the thread that accepts
        threading.Thread(target=_serve, args=(server, network), daemon=True).start()
    return servers


def uid_of(peer: Address, own: Address) -> int | None:
    """The user at the other end of a connection on this machine; None if it is not found."""
    wanted = [_as_listed(peer), _as_listed(own)]
    for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:]):
        if fields[1:3] == wanted:
            return int(fields[_UID_FIELD])
    return None


def _as_listed(address: Address) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}"


def _serve(server: socket.socket, network: str) -> None:
    with suppress(OSError):  # closed
        while True:
            caller, peer = server.accept()
            if uid_of(peer, server.getsockname()) != os.geteuid():
                caller.close()
                continue
            threading.Thread(
                target=_carry, args=(caller, network, server.getsockname()), daemon=True
            ).start()


def _carry(caller: socket.socket, network: str, address: Address) -> None:
    with caller, suppress(OSError), connect(network, address, _TIMEOUT_S) as inside:
        inside.settimeout(None)
        ends: Sequence[tuple[socket.socket, socket.socket]] = ((caller, inside), (inside, caller))
        ways = [threading.Thread(target=_copy, args=pair, daemon=True) for pair in ends]
        for way in ways:
            way.start()
        for way in ways:
            way.join()


def _copy(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(_CHUNK_BYTES):
            to.sendall(chunk)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)
