"""The key `vms` of a study, for provider libvirt. Pure; faults are ValueErrors."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from cluster.model.host import VcpuPolicy, VmCache
from workloads.base.checked import FaultyKeyError, at_most, like
from workloads.base.quantity import SizeMib

Bridge = Annotated[
    str, like(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}", "a bridge name of at most 15 characters")
]
MAX_DISK_MIB = 2**30
_SERVED_BY_THE_HOST = ("writeback", "writethrough", "unsafe", "default")


def _cache(value: object) -> object:
    """Explains why QEMU's cache modes that use the host's page cache are rejected."""
    if value in _SERVED_BY_THE_HOST:
        raise ValueError(
            f"cache mode {value!r} uses the host's page cache: guests share cached data, and disks "
            "appear faster than they are; write none or directsync"
        )
    return value


def _address(value: object) -> object:
    return str(IPv4Address(value)) if isinstance(value, str) else value


Address = Annotated[str, BeforeValidator(_address)]


class VmsSpec(BaseModel):
    """The VMs of the hosts. Guests receive `addresses` in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: str = Field(description="subnet of the guests: 192.0.2.0/24")
    addresses: str = Field(description="addresses for guests: 192.0.2.100-192.0.2.149")
    bridge: Bridge | None = Field(
        None,
        description="bridge on every host; default: each build has its own network (one host only)",
    )
    gateway: Address | None = Field(None, description="default gateway of the guests")
    host_reserve: SizeMib = Field(
        1024, description="memory reserved for the host at every density: 1 GiB"
    )
    vcpus: VcpuPolicy = Field(
        "all", description="all: every VM has all cores; pinned: equal shares of pinned cores"
    )
    cache: Annotated[VmCache, BeforeValidator(_cache)] = Field(
        "none",
        description="QEMU cache mode of data disks; modes that use the page cache are rejected",
    )
    data_disk: Annotated[SizeMib, at_most(MAX_DISK_MIB, "1 PiB in MiB")] = Field(
        32 * 1024, description="maximum size of a guest's sparse data disk: 32 GiB"
    )
    images: Annotated[
        str, like(r"/[A-Za-z0-9_./-]+", "an absolute path of letters, digits, _ . - and /")
    ] = Field(
        "/var/lib/libvirt/images/density-study", description="folder for disk images on the hosts"
    )

    @field_validator("network")
    @classmethod
    def _whole_network(cls, value: str) -> str:
        return str(IPv4Network(value))

    @field_validator("data_disk")
    @classmethod
    def _whole_gib(cls, value: int) -> int:
        if value % 1024:
            raise ValueError(f"data_disk is {value} MiB; write whole GiB")
        return value

    @model_validator(mode="after")
    def _within_the_network(self) -> VmsSpec:
        subnet = IPv4Network(self.network)
        if subnet.num_addresses < 8:
            raise FaultyKeyError(
                f"network {subnet} is too small for guests; use a /29 or larger", "network"
            )
        reserved = {subnet.network_address, subnet.broadcast_address}
        for what, address in (
            *(("addresses", address) for address in self.range),
            ("gateway", self.gateway),
        ):
            if address is None:
                continue
            if IPv4Address(address) not in subnet or IPv4Address(address) in reserved:
                raise FaultyKeyError(f"{address} is not a host address of network {subnet}", what)
        if self.gateway in self.range:
            raise FaultyKeyError(
                f"{self.gateway} is the gateway's address; exclude it from addresses", "addresses"
            )
        if self.bridge is None and self.host_address in self.range:
            raise FaultyKeyError(
                f"without a bridge, the host itself has the network's first address {self.host_address}; "
                "start the range after it",
                "addresses",
            )
        return self

    @property
    def range(self) -> tuple[str, ...]:
        """Every address of `addresses`, in order. ValueError if it is not a range."""
        first, dash, last = self.addresses.partition("-")
        begin, end = IPv4Address(first.strip()), IPv4Address((last if dash else first).strip())
        if end < begin or int(end) - int(begin) >= 4096:
            raise FaultyKeyError(
                f"{self.addresses} is not a range of at most 4096 addresses", "addresses"
            )
        return tuple(str(IPv4Address(number)) for number in range(int(begin), int(end) + 1))

    @property
    def host_address(self) -> str:
        """The host's own address on a build's network: the first one."""
        return str(next(IPv4Network(self.network).hosts()))


LibvirtUri = Annotated[
    str,
    like(
        r"qemu(:///|\+ssh://[A-Za-z0-9@:._-]+/)system(\?[A-Za-z0-9=&/._-]*)?",
        "qemu:///system or qemu+ssh://user@address/system",
    ),
]
"""A system URI: guests of a session URI cannot join a bridge."""
