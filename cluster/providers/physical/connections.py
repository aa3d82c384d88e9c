"""Whether hosts and this machine can connect to the ports that daemons will have, tried before any starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from density_study.cluster.machine.sockets import not_reached
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.channel import channel, on_all, try_all

CONTROLLER = "this machine"
_EPHEMERAL = 0
"""One more port, which the kernel chooses: ApplicationMasters have such ones."""
_SHOWN = 4


def check_connections(targets: Mapping[str, Target], ports: Mapping[str, Sequence[int]]) -> None:
    """`ports`: those of each host's address. Each host listens on its own for a moment, and all others
    connect.

    InputError for a name that means another address on the host, for a firewall, and for a name that a host
    does not know.
    """
    try:
        listening = on_all(
            targets,
            lambda _, target: channel(target).act(
                "answer-at", target.address, [*ports.get(target.address, ()), _EPHEMERAL]
            ),
        )
        addresses = [(targets[host].address, port) for host in targets for port in listening[host]]
        silent = on_all(targets, lambda _, target: channel(target).act("not-reached", addresses))
        silent |= {CONTROLLER: not_reached(addresses)}
    finally:
        try_all(targets, lambda _, target: channel(target).act("answer-at", target.address, []))
    faults = [
        f"{host} cannot connect to {_listed(found)}" for host, found in silent.items() if found
    ]
    if faults:
        raise InputError(
            f"{'; '.join(faults)}.",
            "connections between the hosts",
            "let the hosts' firewalls pass everything between them and from this machine (firewalld: "
            "firewall-cmd --zone=trusted --add-source=NETWORK), and let every host know the addresses' "
            "names.",
        )


def _listed(found: Sequence[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
