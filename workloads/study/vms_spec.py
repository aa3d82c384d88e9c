"""The key `vms` of a study, for provider libvirt. Pure; faults are ValueErrors."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from density_study.cluster.model.host import USER, VcpuPolicy, VmCache
from density_study.workloads.base.checked import FaultyKeyError, at_most, like
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.values import Frozen

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


class VmsSpec(Frozen):
    """VMs on the hosts, with provider `libvirt`. VMs get `addresses` in order."""

    network: str = Field(description="Subnet of the VMs, for example `192.0.2.0/24`.")
    addresses: str = Field(
        description="Addresses of the VMs in the subnet, for example `192.0.2.100-192.0.2.149`."
    )
    bridge: Bridge | None = Field(
        None,
        description="Bridge that exists on every host. Default: each build creates its own network, "
        "which works on one host only.",
    )
    gateway: Address | None = Field(None, description="Default gateway of the VMs.")
    host_reserve: SizeMib = Field(
        1024, description="Memory that the host keeps at every density. VMs share the rest evenly."
    )
    vcpus: VcpuPolicy = Field(
        "all",
        description="`all`: every VM has all cores. `pinned`: equal shares, of whole cores and NUMA nodes.",
    )
    cache: Annotated[VmCache, BeforeValidator(_cache)] = Field(
        "none", description="QEMU's cache mode. Modes that use the host's page cache are rejected."
    )
    data_disk: Annotated[SizeMib, at_most(MAX_DISK_MIB, "MiB, 1 PiB")] = Field(
        32 * 1024,
        description="Maximum size of the VMs' data disks on one drive, together, in whole GiB.",
    )
    preallocated: bool = Field(
        False,
        description="Reserve `data_disk` on each drive when VMs are made. For sparse disks, the host's file "
        "system allocates while VMs write, which it never does for the bare host.",
    )
    huge_pages: Literal["2 MiB", "1 GiB"] | None = Field(
        None,
        description="Size of huge pages that hold the memory of VMs. Each host needs enough free ones, which "
        "`study doctor` counts. Not with density 0: the bare host cannot use them.",
    )
    images: Annotated[
        str, like(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.-]+)+/?", "an absolute path of plain characters")
    ] = Field("/var/lib/libvirt/images/density-study", description="Folder of images on the host.")

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
        rf"qemu:///system|qemu\+ssh://({USER}@)?[A-Za-z0-9]([A-Za-z0-9.-]{{0,251}}[A-Za-z0-9])?"
        r"(:[0-9]{1,5})?/system",
        "qemu:///system or qemu+ssh://user@address/system",
    ),
]
"""A system URI: guests of a session URI cannot join a bridge. It has no query, in which libvirt would take
programs to run (command=) and ways past the check of host keys (no_verify=)."""
