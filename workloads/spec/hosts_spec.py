"""The keys `hosts` and `ssh` of a study: machines, their disks, and how to log in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from workloads.base.checked import Name, at_most, like
from workloads.base.quantity import whole_mib
from workloads.spec.vms_spec import LibvirtUri

MAX_MEMORY_MIB = 64 * 2**20


def _auto_or_mib(value: object) -> object:
    return value if value == "auto" else whole_mib(value)


Cores = Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["auto"]
Memory = Annotated[
    int | Literal["auto"],
    BeforeValidator(_auto_or_mib),
    at_most(MAX_MEMORY_MIB, "no host has more than 64 TiB of memory"),
]
Rate = Annotated[int, Field(strict=True, ge=1), at_most(10**9, "no disk is that fast")]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsSpec(_Spec):
    """Limits on a disk that make it emulate a slower medium."""

    read_iops: Rate | None = Field(None, description="read operations per second")
    write_iops: Rate | None = Field(None, description="write operations per second")
    read_mib_s: Rate | None = Field(None, description="MiB read per second")
    write_mib_s: Rate | None = Field(None, description="MiB written per second")


class DiskSpec(_Spec):
    """A directory on a disk of a host."""

    path: str = Field("auto", description="absolute path; auto: below the runs folder")
    medium: Literal["auto", "flash", "hdd"] = Field(
        "auto", description="medium of the disk; auto: `study run` probes it"
    )
    limits: LimitsSpec | None = Field(
        None,
        description="limits that emulate `medium`; measured before use, and marked as emulated",
    )

    @model_validator(mode="after")
    def _emulates_something(self) -> DiskSpec:
        if self.limits is not None and self.medium == "auto":
            raise ValueError("a disk with limits needs the medium it emulates: flash or hdd")
        if self.limits is not None and not self.limits.model_dump(exclude_none=True):
            raise ValueError(
                "limits is empty: set read_iops, write_iops, read_mib_s or write_mib_s"
            )
        return self


class HostSpec(_Spec):
    """A machine that the study uses."""

    name: Name = Field(description="name of the host in plans and reports")
    address: str = Field("127.0.0.1", description="IP address or host name")
    cores: Cores = Field("auto", description="number of cores; auto: all cores of the host")
    memory: Memory = Field(
        description="memory that the study may use: 6 GiB; auto: half of the host's memory"
    )
    disks: tuple[DiskSpec, ...] = Field(
        (DiskSpec(),), max_length=64, description="directories for data, one per disk"
    )
    roles: tuple[Literal["master", "worker", "client"], ...] = Field(
        ("worker",), description="what runs on the host: master and worker daemons, clients"
    )
    usd_per_hour: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="price of the host in USD per hour"
    )
    libvirt: LibvirtUri | None = Field(
        None,
        description="libvirt URI of the host; default: qemu+ssh with the login of `ssh`",
    )


class SshSpec(_Spec):
    """SSH login of the hosts. The private key comes from the environment or an SSH agent, never from here."""

    user: Annotated[str, like(r"[a-z_][a-z0-9_-]{0,31}", "a user name")] = Field(
        description="user to log in as"
    )
    port: Annotated[int, Field(strict=True, ge=1, le=65535)] = Field(22, description="SSH port")
    known_hosts: str = Field(
        "~/.ssh/known_hosts",
        description="file with the hosts' keys; hosts with unknown keys are rejected",
    )
