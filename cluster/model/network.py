"""`Network`: what a variant makes of its nodes' network interfaces. Standard library only: it runs on
hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from density_study.cluster.model.errors import InputError, StudyError

Shaper = Literal["tbf", "htb"]
_OF_CPUS = ("rps", "xps", "irq_affinity")


@dataclass(frozen=True)
class Network:
    """None and empty: as it is.

    `rps`: CPUs that process received packets (receive packet steering). `queues`: those of each interface.
    `xps`: CPUs that send by the queues in turn (transmit packet steering).
    `rfs`: entries of the table of flows whose packets are processed where they are read (receive flow
    steering).
    `irq_affinity`: CPUs that handle the network card's interrupts in turn.
    `delay_ms` and `loss_percent`: of packets that a node sends.
    `coalesce`: for how long, and for how many packets, the card waits before it interrupts: values by
    ethtool's names.
    """

    rate_mbit_s: float | None = None
    shaper: Shaper = "tbf"
    mtu: int | None = None
    rps: tuple[int, ...] = ()
    queues: int | None = None
    delay_ms: float | None = None
    loss_percent: float | None = None
    xps: tuple[int, ...] = ()
    rfs: int | None = None
    irq_affinity: tuple[int, ...] = ()
    coalesce: tuple[tuple[str, int], ...] = ()

    def declared(self) -> dict[str, Any]:
        """What it sets, by name; a JSON value."""
        found = {key: value for key, value in asdict(self).items() if value not in (None, ())}
        if self.rate_mbit_s is None:
            del found["shaper"]
        if self.coalesce:
            found["coalesce"] = dict(self.coalesce)
        return {**found, **{key: list(found[key]) for key in _OF_CPUS if key in found}}


UNCHANGED = Network()


OLD_NAMES = {"steer": "rps", "follow": "rfs", "transmit": "xps"}


def present_names(declared: Mapping[str, Any]) -> dict[str, Any]:
    """A description with present names: records and plans of earlier versions have others."""
    return {OLD_NAMES.get(name, name): value for name, value in declared.items()}


def network_of(declared: Mapping[str, Any]) -> Network:
    """The network of which `declared` is a description."""
    declared = present_names(declared)
    cpus = {key: tuple(declared.get(key, ())) for key in _OF_CPUS}
    coalesce = tuple(sorted(declared.get("coalesce", {}).items()))
    return Network(**{**declared, **cpus, "coalesce": coalesce})


def unable(why: str) -> InputError:
    """A machine cannot have the network of a level."""
    return InputError(
        f"this network is not possible: {why}.",
        "factors.network",
        "remove the level, or give the study a host that can have it.",
        ("factors", "network"),
    )


def failed(why: str) -> StudyError:
    """A network could not be changed."""
    return StudyError(
        f"{why}.",
        "factors.network",
        "run `study doctor SPEC`, which tries each setting on each host.",
    )
