"""`Target`: where and as whom a host is reached. Holds nothing secret: records may tell all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """One SSH server. `known_hosts` is the only file whose host keys are believed."""

    host: str
    address: str
    port: int
    user: str
    known_hosts: str

    def __str__(self) -> str:
        return f"host {self.host!r} ({self.user}@{self.address}:{self.port})"


def target_to_json(target: Target) -> dict[str, Any]:
    return asdict(target)


def target_from_json(value: Mapping[str, Any]) -> Target:
    return Target(**value)
