"""`Target`: the SSH address and user of a host. It holds no secrets, so records may contain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """One SSH server. `known_hosts` is the only source of trusted host keys.

    `identity` names the private key's file where a build has one of its own; else the environment's.
    `timeout_scale` multiplies timeouts: a live emulated guest may be silent for a minute.
    """

    host: str
    address: str
    port: int
    user: str
    known_hosts: str
    identity: str = ""
    timeout_scale: int = 1

    def __str__(self) -> str:
        return f"host {self.host!r} ({self.user}@{self.address}:{self.port})"


def target_to_json(target: Target) -> dict[str, Any]:
    """Fields with their default values are left out."""
    fields = {key: value for key, value in asdict(target).items() if value != ""}
    return {key: value for key, value in fields.items() if (key, value) != ("timeout_scale", 1)}


def target_from_json(value: Mapping[str, Any]) -> Target:
    return Target(**value)
