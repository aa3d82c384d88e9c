"""`Target`: where and as whom a host is reached. Holds nothing secret: records may tell all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """One SSH server. `known_hosts` is the only file whose host keys are believed.

    `identity` names the private key's file where a build has one of its own; else the environment's.
    `timeout_scale` multiplies the limits of waiting: an emulated guest may be silent for a minute and live.
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
    """What is as ever is left out: where a build has no key of its own, none is spoken of."""
    told = {key: value for key, value in asdict(target).items() if value != ""}
    return {key: value for key, value in told.items() if (key, value) != ("timeout_scale", 1)}


def target_from_json(value: Mapping[str, Any]) -> Target:
    return Target(**value)
