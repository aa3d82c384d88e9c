"""Waits until every guest of a build answers over SSH with its own host key."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NoReturn

from density_study.cluster.model.errors import BringUpError, HostLostError, StudyError
from density_study.cluster.providers.libvirt.guests import Guest
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.ssh.channel import on_all
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.state.events import Accel

BOOT_LIMIT_S: dict[Accel, float] = {"kvm": 120.0, "tcg": 600.0}
POLL_S = 0.5
CONSOLE_LINES = 30


def await_guests(
    transport: SshTransport, guests: Sequence[Guest], accelerations: Mapping[str, Accel]
) -> dict[str, float]:
    """Seconds until each answered. `accelerations`: by libvirt's URI.

    BringUpError with the end of its console output for each guest that ended or is late.
    """
    began = time.monotonic()

    def seconds_until_up(_: str, guest: Guest) -> float:
        deadline = began + BOOT_LIMIT_S[accelerations[guest.vms.uri]]
        return _await(transport, guest, deadline, began)

    return on_all({guest.node.name: guest for guest in guests}, seconds_until_up)


def _await(transport: SshTransport, guest: Guest, deadline: float, began: float) -> float:
    virsh = Virsh(guest.vms.uri)
    while True:
        try:
            transport.act(guest.node, "clock")
            return round(time.monotonic() - began, 1)
        except HostLostError as error:  # not yet
            if virsh.run("domstate", guest.domain).strip() != "running":
                _fail(virsh, guest, "ended while it booted.")
            if time.monotonic() > deadline:
                _fail(virsh, guest, f"did not answer in time: {error.what}")
            time.sleep(POLL_S)


def _fail(virsh: Virsh, guest: Guest, what: str) -> NoReturn:
    raise BringUpError(
        f"guest {guest.node.name} {what}",
        f"domain {guest.domain} on {virsh.uri}",
        "read the end of its console output below, then start again.",
        daemon=guest.domain,
        log_tail=console_tail(virsh, guest),
    )


def console_tail(virsh: Virsh, guest: Guest) -> str:
    """The last lines of its console; empty if they cannot be read."""
    try:
        virsh.run("pool-refresh", guest.pool)
        volume = guest.volume("console")
        output = virsh.run("vol-download", volume, "/dev/stdout", "--pool", guest.pool)
    except StudyError:
        return ""
    return "\n".join(output.splitlines()[-CONSOLE_LINES:])
