"""What is left of a build on one host: processes, folders, ports, units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cluster.providers.ssh.channel import channel
from cluster.providers.ssh.target import Target


def leftovers_on(
    target: Target, tag: str, paths: Sequence[str], ports: Sequence[Sequence[Any]]
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Each in words, in that order. `paths`, `ports`: what the build meant to make, on any host."""
    ask = channel(target)
    own = [port for port in ports if port[0] == target.address]
    processes = [
        f"process {p['pid']} ({p['name']} on {p['node'] or '-'}, host {target.host})"
        for p in ask.call("act", "tagged", [tag])
    ]
    directories = [
        f"{path} on host {target.host}" for path in ask.call("act", "dirs-there", [paths])
    ]
    held = [f"port {p} on {h}" for h, p in ask.call("act", "listening", [own, tag])]
    units = [f"unit {unit} on host {target.host}" for unit in ask.call("units", tag)]
    return processes, directories, held, units
