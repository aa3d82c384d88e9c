"""`Network`: what an arm makes of its nodes' network interfaces. Standard library only: it runs on hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Shaper = Literal["tbf", "htb"]


@dataclass(frozen=True)
class Network:
    """None and empty: as it is.

    `steer`: CPUs that process received packets (receive packet steering). `queues`: of each interface.
    `transmit`: CPUs that send by the queues in turn (transmit packet steering).
    `delay_ms` and `loss_percent`: of packets that a node sends.
    """

    rate_mbit_s: float | None = None
    shaper: Shaper = "tbf"
    mtu: int | None = None
    steer: tuple[int, ...] = ()
    queues: int | None = None
    delay_ms: float | None = None
    loss_percent: float | None = None
    transmit: tuple[int, ...] = ()

    def declared(self) -> dict[str, Any]:
        """What it sets, by name; a JSON value."""
        found = {key: value for key, value in asdict(self).items() if value not in (None, ())}
        if self.rate_mbit_s is None:
            del found["shaper"]
        cpus = {"steer": self.steer, "transmit": self.transmit}
        return {**found, **{key: list(value) for key, value in cpus.items() if value}}


UNCHANGED = Network()


def network_of(declared: Mapping[str, Any]) -> Network:
    """The network of which `declared` is a description."""
    cpus = {key: tuple(declared.get(key, ())) for key in ("steer", "transmit")}
    return Network(**{**declared, **cpus})
