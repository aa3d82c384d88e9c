"""The keys `hosts` and `ssh` of a study: machines, their disks, and how to log in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import (
    JUMP,
    PYTHON,
    USER,
    Disk,
    DiskType,
    Host,
    IoLimits,
    Login,
)
from density_study.cluster.providers.ssh.options import host_folder
from density_study.cluster.render.names import check_address
from density_study.workloads.base.checked import Name, at_most, like
from density_study.workloads.base.quantity import whole_mib
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.vms_spec import LibvirtUri

MAX_MEMORY_MIB = 64 * 2**20


def _auto_or_mib(value: object) -> object:
    return value if value == "auto" else whole_mib(value)


def _address(value: str) -> str:
    """For every provider: programs like ssh would take `-oProxyCommand=...` for an option."""
    try:
        return check_address(value, "hosts")
    except InputError as error:
        raise ValueError(f"{error.what.rstrip('.')}{_instead(value)}") from error


def _instead(address: str) -> str:
    """Where the study says what people write into addresses."""
    if "@" in address:
        return "; the login is the key ssh.user"
    if address.count(":") > 1:
        return "; daemons use IPv4: write the host's IPv4 address, or a name that has one"
    return "; the port of SSH is the key ssh.port" if ":" in address else ""


def _without_domain(value: object) -> object:
    if isinstance(value, str) and "." in value:
        raise ValueError(
            f"{value[:80]!r} is no name of a host: write a short one, such as {value.split('.')[0][:48]!r}, "
            "and the domain in the key address"
        )
    return value


def _folder(value: str) -> str:
    """A disk, which a study names by a folder on it. ValueError for a pattern or a device."""
    if re.search(r"[*?{}\[\]]", value):
        raise ValueError(
            f"{value[:80]!r} is a pattern, and none is expanded: write one entry for each disk; other hosts "
            "take the list over by YAML's anchors (`disks: &disks [...]`, then `disks: *disks`)"
        )
    if re.match(r"/dev/(?!shm(/|$))", value):
        raise ValueError(
            f"{value[:80]!r} is a device: make a file system on it, mount it, and write a folder on it"
        )
    return value


Address = Annotated[str, AfterValidator(_address)]
HostName = Annotated[Name, BeforeValidator(_without_domain)]
Path = Annotated[str, like(r".+", "a path")]
Cores = Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["auto"]
Memory = Annotated[
    int | Literal["auto"],
    BeforeValidator(_auto_or_mib),
    at_most(MAX_MEMORY_MIB, "no host has more than 64 TiB of memory"),
    WithJsonSchema({"type": "string"}),
]
Rate = Annotated[int, Field(strict=True, ge=1), at_most(10**9, "no disk is that fast")]


class LimitsSpec(Frozen):
    """Limits that emulate a disk type on a disk. Needs root (cgroup v2)."""

    read_iops: Rate | None = Field(None, description="Read operations per second.")
    write_iops: Rate | None = Field(None, description="Write operations per second.")
    read_mib_s: Rate | None = Field(None, description="Read throughput, MiB/s.")
    write_mib_s: Rate | None = Field(None, description="Write throughput, MiB/s.")


class DiskSpec(Frozen):
    """A folder on a disk of a host."""

    path: Annotated[Path, AfterValidator(_folder)] = Field(
        "auto",
        description="Folder on the disk, as an absolute path. It must exist, or its parent must be a "
        "mount point. `auto` is the disk of the runs folder; on other hosts, the disk of `/var/tmp`.",
    )
    disk_type: Literal["auto", "flash", "hdd"] = Field(
        "auto", description="Type of the disk. With `auto`, `study run` probes the disk."
    )
    limits: LimitsSpec | None = Field(
        None,
        description="Emulate `disk_type` with these limits. They are measured before use, and the report "
        "labels the disk type as emulated.",
    )

    @model_validator(mode="after")
    def _emulates_something(self) -> DiskSpec:
        if self.limits is not None and self.disk_type == "auto":
            raise ValueError("a disk with limits needs the disk type it emulates: flash or hdd")
        if self.limits is not None and not self.limits.model_dump(exclude_none=True):
            raise ValueError(
                "limits is empty: set read_iops, write_iops, read_mib_s or write_mib_s"
            )
        return self

    def disk(self, path: str, disk_type: DiskType) -> Disk:
        """The disk, with what was found in place of `auto`."""
        limits = None if self.limits is None else IoLimits(**self.limits.model_dump())
        return Disk(path, disk_type, limits is not None, limits)


class HostSpec(Frozen):
    """A machine that the study may use."""

    name: HostName = Field(description="Name of the host in plans, records and reports.")
    address: Address = Field(
        "127.0.0.1", description="Address of the host. `local` has one host, on 127.0.0.1."
    )
    cores: Cores = Field("auto", description="Number of cores that the study may use.")
    memory: Memory = Field(
        description="Memory that the study may use, for example `6 GiB`. `auto` is half of the host's."
    )
    disks: tuple[DiskSpec, ...] = Field(
        (DiskSpec(),), max_length=64, description="Disks for data. Default: one disk, `auto`."
    )
    roles: tuple[Literal["master", "worker", "client"], ...] = Field(
        ("worker",), description="Roles of the host. Each role needs at least one host."
    )
    usd_per_hour: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Price in USD per hour, for price-performance."
    )
    libvirt: LibvirtUri | None = Field(
        None,
        description="URI of its libvirt, for example `qemu:///system`. Default: `qemu+ssh`, with the "
        "login in `ssh`.",
    )

    def host(self, cores: int, memory_mib: int, disks: Iterable[Disk], login: Login | None) -> Host:
        """The host, with what was found in place of `auto`."""
        price = self.usd_per_hour
        return Host(
            self.name, self.address, cores, memory_mib, tuple(disks), self.roles, price, login
        )


class SshSpec(Frozen):
    """SSH login of the hosts. The private key comes from DENSITY_STUDY_SSH_IDENTITY or from an SSH agent."""

    user: Annotated[
        str,
        like(
            USER,
            "the name of a user: up to 32 lower-case letters, digits and . _ -, without a domain",
        ),
    ] = Field(description="User name on the hosts.")
    port: Annotated[int, Field(strict=True, ge=1, le=65535)] = Field(22, description="SSH port.")
    known_hosts: Path = Field(
        "~/.ssh/known_hosts",
        description="File with the host keys. A host with another key, or none in it, is rejected.",
    )
    python: Annotated[
        str, like(r"(?:/[\w./-]+/)?python3[\w.]*", "a Python 3: its name, or its path")
    ] = Field(
        PYTHON,
        description="Python 3.11 or later on the hosts, for the program's agent: its name on PATH, or its "
        "path. RHEL 8 and 9 have `python3.11` beside their own.",
    )
    java: Annotated[str, like(r"/[\w.+/-]+", "the home of a JDK, as an absolute path")] | None = (
        Field(
            None,
            description="Home of the JDK on the hosts, for example `/usr/lib/jvm/java-17-openjdk`. Default: "
            "`JAVA_HOME` of the login, else `java` on its PATH.",
        )
    )
    jump: Annotated[str, like(JUMP, "a host to jump from, like admin@bastion:22")] | None = Field(
        None,
        description="Host through which the hosts are reached by SSH, as `user@address:port`; its key must "
        "also be in `known_hosts`. The study's own connections to daemons do not go through it.",
    )

    def login(self, known_hosts: str, java: tuple[str, str] = ("", "")) -> Login:
        """`java`: home and version of that found on the hosts."""
        more = {"python": self.python, "java": self.java or "", "jump": self.jump or ""}
        return Login(self.user, self.port, known_hosts, *java, folder=host_folder(), **more)

    def servers(self, hosts: Iterable[HostSpec]) -> list[tuple[str, int]]:
        """(address, port) of all that have a host key: the hosts, and the one between."""
        found = [(host.address, self.port) for host in hosts]
        via = self.login("").target("", "").via
        return [*found, (via.address, via.port)] if via else found
