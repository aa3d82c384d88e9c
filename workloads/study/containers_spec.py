"""The key `containers` of a study, for provider container. Pure; faults are ValueErrors."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import islice

from pydantic import Field, field_validator

from density_study.cluster.model.host import ContainerHost, CpuPolicy
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.values import Frozen

NETWORK = "198.18.41.0/24"
"""For the range that is reserved for benchmarks (RFC 2544), so that no network of a site has it."""


class ContainersSpec(Frozen):
    """Containers on this machine or on hosts over SSH, with provider `container`."""

    network: str = Field(
        NETWORK,
        description="Private subnet of the containers. It exists only while they run. Hosts over SSH divide "
        "it: each has an equal part, and routes to the others'. A host has the first address of its part.",
    )
    cpus: CpuPolicy = Field(
        "quota",
        description="`quota`: every worker may use an equal share of the cores' time. `pinned`: an equal "
        "share of the cores. `all`: all cores.",
    )
    host_reserve: SizeMib = Field(
        512,
        description="Memory that the host keeps at every density. Containers share the rest evenly.",
    )

    @field_validator("network")
    @classmethod
    def _private_network(cls, value: str) -> str:
        network = IPv4Network(value)
        if network.prefixlen > 28 or network.prefixlen < 16:
            raise ValueError(f"network {network} is not between a /16 and a /28")
        if not network.is_private:
            raise ValueError(f"network {network} is not private; write for example {NETWORK}")
        return str(network)

    def carried(self, hosts: int, containers: int) -> tuple[ContainerHost, ...]:
        """How each of the hosts carries that many containers. ValueError if the network is too small."""
        bits = (hosts - 1).bit_length()
        network = IPv4Network(self.network)
        # beside the containers' addresses: the host's, the network's own and that of broadcasts
        if 2 ** (32 - network.prefixlen - bits) < containers + 3:
            where = f" on each of {hosts} hosts" if hosts > 1 else ""
            raise ValueError(
                f"network {self.network} is too small for {containers} containers{where}"
            )
        parts = islice(network.subnets(bits), hosts)
        return tuple(self._part(part, containers) for part in parts)

    def _part(self, network: IPv4Network, containers: int) -> ContainerHost:
        first, *rest = map(str, islice(network.hosts(), containers + 1))
        return ContainerHost(tuple(rest), str(network), first, self.cpus, self.host_reserve)
