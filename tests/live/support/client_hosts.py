"""A master, a worker and two hosts that are only clients, all made of namespaces (`tests.hosts`)."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.fixture import Hosts

NAMES = ["m1", "h1", "k1", "k2"]
_ROLES = {"m1": "[master]", "h1": "[worker]"}


def client_hosts_spec(hosts: Hosts, text: str, to: Path) -> Path:
    """Writes the study `text` with the hosts in place of HOSTS and KNOWN_HOSTS."""
    lines = [
        f"  - {{name: {name}, address: {address}, memory: {'1920' if name in _ROLES else '900'} MiB,"
        f" disks: [{{path: /mnt}}], roles: {_ROLES.get(name, '[client]')}}}"
        for name, address in hosts.addresses.items()
    ]
    filled = text.replace("HOSTS", "\n".join(lines), 1)
    to.write_text(filled.replace("KNOWN_HOSTS", str(hosts.known_hosts)))
    return to
