"""The network namespace of a build on this machine: opened before its daemons, closed with them."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from density_study.cluster.machine.other_users import private_network
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.state.events import NetworkUp
from density_study.cluster.state.journal import Journal

_OPEN_WITHIN_S = 30.0
_HOLDER = Node("", "", "", (), 0, 0)
"""The process that keeps the network open belongs to no node."""


def open_network(site: Site, journal: Journal) -> None:
    """Make the build's network, where the kernel gives one. Its addresses are then its own."""
    if private_network.obstacle():
        journal.record(NetworkUp(tag=site.tag, private=False))
        return
    network = private_network.name_of(site.tag)
    door = private_network.door_of(network)
    door.unlink(missing_ok=True)  # left by a holder that was killed: the run was cleared since
    command = Command("network", private_network.holder_argv(door))
    out, err = (site.root / "logs" / f"network.{end}" for end in ("out", "err"))
    transport = LocalTransport(site.tag, journal)
    holder = transport.start(_HOLDER, command, out, err)
    deadline = time.monotonic() + _OPEN_WITHIN_S
    while True:
        with suppress(OSError):
            private_network.entry(network)
            break
        if not transport.alive(holder) or time.monotonic() > deadline:
            raise StudyError(
                f"its network namespace was not made: {err.read_text().strip()[-300:]}.",
                f"build {site.tag}",
                f"read {err}, then run the same command again.",
            )
        time.sleep(0.01)
    journal.record(NetworkUp(tag=site.tag, private=True))


def door_left(tag: str) -> list[Path]:
    """The socket that remains when the process that held the build's network was ended."""
    door = private_network.door_of(private_network.name_of(tag))
    return [door] if door.is_socket() else []
