"""`factors.network`: what a variant makes of its nodes' network. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from density_study.cluster.machine.equality.ethtool import COALESCING
from density_study.cluster.model.network import UNCHANGED, Network, Shaper
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from density_study.workloads.base.checked import FaultyKeyError, like, no_duplicates
from density_study.workloads.base.quantity import magnitude, milliseconds, percent, written_in
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Factor, StudyOfFactors

LEAST_MBIT_S, MOST_MBIT_S = 10, 400_000
MOST_DELAY_MS = 100
_KEY = ("factors", "network")


def _rate(value: object) -> float:
    """ "100 Mbit/s" to 100.0."""
    found = magnitude(value, "Mbit/s", "100 Mbit/s")
    if not LEAST_MBIT_S <= found <= MOST_MBIT_S:
        most = MOST_MBIT_S // 1000
        raise ValueError(f"{value!r} is not between {LEAST_MBIT_S} Mbit/s and {most} Gbit/s")
    return found


def _delay(value: object) -> float:
    found = milliseconds(value)
    if found > MOST_DELAY_MS:
        raise ValueError(f"{value!r} is longer than {MOST_DELAY_MS} ms")
    return found


def _loss(value: object) -> float:
    found = percent(value, "0.1%")
    if found > 50:
        raise ValueError(f"{value!r}: above 50% nothing works")
    return found


def _power_of_two(value: int) -> int:
    if value.bit_count() != 1:
        below = 1 << (value.bit_length() - 1)
        raise ValueError(
            f"{value} is not a power of two, as tables of the kernel are; write {below} or {2 * below}"
        )
    return value


def _on_or_off(value: object) -> object:
    """YAML reads these words as true and false."""
    return ("off", "on")[value] if isinstance(value, bool) else value


CoalescingName = Annotated[
    str,
    like("|".join(COALESCING), "a name of `ethtool -c`, such as rx-usecs, tx-usecs or adaptive-rx"),
]
CoalescingValue = Annotated[
    Annotated[int, Field(strict=True, ge=0, le=2**32 - 1)] | Literal["off", "on"],
    BeforeValidator(_on_or_off),
]


class NetworkSpec(Frozen):
    """A level of the factor `network`. The level `default` is written as this word."""

    rate: Annotated[float, BeforeValidator(_rate), written_in("Mbit/s")] | None = Field(
        None,
        description="Most that a node sends, for example `100 Mbit/s`. A container receives no more, "
        "either.",
    )
    shaper: Shaper = Field("tbf", description="Linux's queueing discipline that limits the rate.")
    mtu: Annotated[int, Field(strict=True, ge=1280, le=9216)] | None = Field(
        None, description="Longest packet, in bytes. A switch must let it through."
    )
    rps: tuple[Annotated[int, Field(strict=True, ge=0, le=1023)], ...] | None = Field(
        None,
        min_length=1,
        description="CPUs of each host that process received packets (receive packet steering).",
    )
    queues: Annotated[int, Field(strict=True, ge=1, le=64)] | None = Field(
        None,
        description="Queues of a container's interface; those of a network card are not changed.",
    )
    xps: tuple[Annotated[int, Field(strict=True, ge=0, le=1023)], ...] | None = Field(
        None,
        min_length=2,
        description="CPUs of each host that send by the `queues` of a container in turn (transmit packet "
        "steering): the first one by the first queue, and so on.",
    )
    delay: Annotated[float, BeforeValidator(_delay), written_in("ms")] | None = Field(
        None, description="Delay of each packet that a node sends, for example `1 ms`."
    )
    loss: Annotated[float, BeforeValidator(_loss), written_in("percent")] | None = Field(
        None, description="Share of the packets sent that is lost, for example `0.1%`."
    )
    rfs: (
        Annotated[int, Field(strict=True, ge=256, le=2**20), AfterValidator(_power_of_two)] | None
    ) = Field(
        None,
        description="Entries of each host's table of flows, for example `32768`: the CPU on which a packet's "
        "receiver reads processes it (receive flow steering, RFS).",
    )
    irq_affinity: tuple[Annotated[int, Field(strict=True, ge=0, le=1023)], ...] | None = Field(
        None,
        min_length=1,
        description="CPUs of each host or guest that handle the interrupts of its network card: one CPU for "
        "each interrupt, in turn.",
    )

    coalesce: dict[CoalescingName, CoalescingValue] | None = Field(
        None,
        min_length=1,
        description="For how many microseconds, and for how many packets, the network card of each host or "
        "guest waits before it interrupts, by the names of `ethtool -c`, for example "
        "`{adaptive-rx: off, rx-usecs: 50}`.",
    )

    @model_validator(mode="after")
    def _some_key(self) -> NetworkSpec:
        if "shaper" in self.model_fields_set and self.rate is None:
            raise FaultyKeyError("shaper limits a rate; add rate, for example 100 Mbit/s", "shaper")
        if self.rate is not None and (self.delay is not None or self.loss is not None):
            raise FaultyKeyError(
                "a stream that is late or loses packets does not reach a rate, which nobody could prove "
                "then; write rate in a level of its own",
                "rate",
            )
        if self.rfs is not None and self.rps is not None:
            raise FaultyKeyError(
                "packets follow their reader, or go to the CPUs of rps; write a level for each",
                "rfs",
            )
        no_duplicates("CPU", self.rps or (), "rps")
        no_duplicates("CPU", self.irq_affinity or (), "irq_affinity")
        self._check_xps()
        for name, value in (self.coalesce or {}).items():
            if name.startswith("adaptive-") == isinstance(value, int):
                wanted = "on or off" if isinstance(value, int) else "a number"
                raise FaultyKeyError(f"{name} is {wanted}, not {value}", "coalesce", name)
        if self.network == UNCHANGED:
            raise ValueError(
                "name at least one of rate, mtu, rps, rfs, queues, xps, irq_affinity, coalesce, delay "
                "and loss, or write default"
            )
        return self

    def _check_xps(self) -> None:
        """Each queue has a CPU, and the discipline that counts them is the only one."""
        if self.xps is None:
            return
        no_duplicates("CPU", self.xps, "xps")
        if not 2 <= (self.queues or 0) <= len(self.xps):
            raise FaultyKeyError(
                f"xps names {len(self.xps)} CPUs; add queues, from 2 to that number", "xps"
            )
        if (self.rate, self.delay, self.loss) != (None, None, None):
            raise FaultyKeyError(
                "one discipline limits or delays an interface, another one counts its queues; write xps "
                "without rate, delay and loss",
                "xps",
            )

    @property
    def network(self) -> Network:
        return Network(
            rate_mbit_s=self.rate,
            shaper=self.shaper,
            mtu=self.mtu,
            rps=tuple(sorted(self.rps or ())),
            queues=self.queues,
            delay_ms=self.delay,
            loss_percent=self.loss,
            xps=self.xps or (),
            rfs=self.rfs,
            irq_affinity=self.irq_affinity or (),
            coalesce=tuple(
                (name, ("off", "on").index(value) if isinstance(value, str) else value)
                for name, value in sorted((self.coalesce or {}).items())
            ),
        )

    @property
    def name(self) -> str:
        """rate-100mbit, rate-1000mbit-htb-mtu-9000, rps-0-1."""
        network = self.network
        parts = (
            network.rate_mbit_s is not None and f"rate-{network.rate_mbit_s:g}mbit",
            network.shaper != "tbf" and network.shaper,
            network.mtu is not None and f"mtu-{network.mtu}",
            network.rps and f"rps-{'-'.join(map(str, network.rps))}",
            network.rfs is not None and f"rfs-{network.rfs}",
            network.queues is not None and f"queues-{network.queues}",
            network.xps and f"xps-{'-'.join(map(str, network.xps))}",
            network.irq_affinity and f"irq-{'-'.join(map(str, network.irq_affinity))}",
            network.coalesce
            and "-".join(("coalesce", *(f"{name}-{value}" for name, value in network.coalesce))),
            network.delay_ms is not None and f"delay-{network.delay_ms:g}ms",
            network.loss_percent is not None and f"loss-{network.loss_percent:g}pc",
        )
        return "-".join(str(part) for part in parts if part)


NetworkLevel = Annotated[
    Annotated[Literal["default"], Tag("(word)")] | Annotated[NetworkSpec, Tag("(settings)")],
    Discriminator(lambda value: "(word)" if isinstance(value, str) else "(settings)"),
]
"""By the tags, an error is about the kind of level that was meant; in parentheses, they are not shown."""


class Networks(Factor[Network]):
    """What a variant makes of its nodes' network."""

    name = "network"
    key = (
        tuple[NetworkLevel, ...] | None,
        Field(
            None,
            min_length=1,
            description="Networks to compare, for example `[default, {rate: 100 Mbit/s}, {mtu: 9000}, "
            "{rps: [1]}]`, with provider `container`, `physical` or `libvirt`. The first one is the "
            "baseline. What they set is measured before the first trial; where it does not hold, trials are "
            "invalid.",
        ),
    )
    proofs = ("network_broken",)

    def pairs(
        self, given: tuple[Literal["default"] | NetworkSpec, ...]
    ) -> Iterator[tuple[str, Network]]:
        for level in given:
            if isinstance(level, NetworkSpec):
                yield level.name, level.network
            else:
                yield level, UNCHANGED

    def apply(self, variant: Variant, level: Network) -> Variant:
        return replace(variant, network=level)

    def check(self, study: StudyOfFactors) -> None:
        """Nodes have a network interface that the study may change."""
        if study.factors.network is None:
            return
        made_by = provider_named(study.provider)
        if why := made_by.no_network_factor:
            raise FaultyKeyError(f"provider {study.provider} has no factor network: {why}", *_KEY)
        if made_by.bare and 0 in study.factors.vms_per_host:
            raise FaultyKeyError(
                "the bare host (vms_per_host 0) has another network than its nodes, or talks to itself by "
                "loopback, which is not changed; remove 0, or the factor",
                *_KEY,
            )
        if made_by.isolation.facts.is_bare and len(study.hosts) < 2:
            raise FaultyKeyError(
                "one host talks to itself by loopback; add hosts, or use provider container", *_KEY
            )
        for place, level in enumerate(study.factors.network):
            for key, why in made_by.fixed_of_network.items():
                if isinstance(level, NetworkSpec) and getattr(level, key) is not None:
                    raise FaultyKeyError(why, *(*_KEY, place, key))


NETWORK = Networks()
