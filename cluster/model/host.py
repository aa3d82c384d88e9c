"""`Host` and `Disk`: the hardware that clusters are built on."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from density_study.cluster.model.errors import InputError

DiskType = Literal["flash", "hdd"]
Role = Literal["master", "worker", "client"]
VcpuPolicy = Literal["all", "pinned"]
VmCache = Literal["none", "directsync"]
CpuPolicy = Literal["quota", "pinned", "all"]
MIB = 2**20


@dataclass(frozen=True)
class IoLimits:
    """Limits of an emulated disk, in operations per second and MiB/s; None means unlimited."""

    read_iops: int | None = None
    write_iops: int | None = None
    read_mib_s: int | None = None
    write_mib_s: int | None = None

    def iotune(self) -> dict[str, int]:
        """The limits as libvirt's <iotune> names them: bytes per second and operations per second."""
        named = {
            "read_iops_sec": self.read_iops,
            "write_iops_sec": self.write_iops,
            "read_bytes_sec": self.read_mib_s and self.read_mib_s * MIB,
            "write_bytes_sec": self.write_mib_s and self.write_mib_s * MIB,
        }
        return {name: value for name, value in named.items() if value is not None}

    def part(self, mine: int, parts: int) -> IoLimits:
        """`mine` of this number of equal parts of each limit, at least 1."""
        limits: dict[str, int | None] = asdict(self)
        return IoLimits(**{k: v and max(1, v * mine // parts) for k, v in limits.items()})

    def to_json(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Disk:
    """A directory on a disk, and the disk's type, which a probe confirms.

    `limits` emulate another disk type; the disk is then labelled `emulated` wherever it appears.
    """

    path: str
    disk_type: DiskType
    emulated: bool = False
    limits: IoLimits | None = None


@dataclass(frozen=True)
class MemoryFolder:
    """A folder in a host's memory (tmpfs), which stands in for persistent memory: it is always emulated."""

    path: str = "/dev/shm"


LIBVIRT_HERE = "qemu:///"
"""How the URI of this machine's libvirt begins."""


@dataclass(frozen=True)
class VmHost:
    """How a host carries guests: its libvirt, their network, and how cores and disks are dealt out.

    `addresses` are the guests', IPv4, in the order they are given out; `network` is their subnet as
    192.0.2.0/24. With `bridge` they join that bridge of the host; without, a network of the build's
    own on which the host has `host_address`, which several hosts cannot share. `reserve_mib` stays
    the host's; `data_gib` is how large the data disks on a drive may grow together, or are from the start
    with `preallocated`; `images` is where golden images are cached. `huge_kib`: size of the host's pages that
    the guests' memory is made of; 0: of ordinary ones.
    """

    uri: str
    addresses: tuple[str, ...]
    network: str
    host_address: str | None = None
    bridge: str | None = None
    gateway: str | None = None
    vcpus: VcpuPolicy = "all"
    cache: VmCache = "none"
    reserve_mib: int = 512
    data_gib: int = 32
    preallocated: bool = False
    huge_kib: int = 0
    images: str = "/var/lib/libvirt/images/density-study"

    @property
    def is_here(self) -> bool:
        """Whether its libvirt is that of this machine."""
        return self.uri.startswith(LIBVIRT_HERE)


@dataclass(frozen=True)
class ContainerHost:
    """How a host carries containers: their network, of the build's own, and how cores are dealt out.

    `host_address` is the host's on that network. `addresses` and `reserve_mib` as of `VmHost`.
    """

    addresses: tuple[str, ...]
    network: str
    host_address: str
    cpus: CpuPolicy = "quota"
    reserve_mib: int = 512


PYTHON = "python3"
USER = r"[a-z_][a-z0-9_.-]{0,31}"
"""A user's name on a host: dots are those of companies; no domain."""
JUMP = rf"(?:({USER})@)?([A-Za-z0-9][A-Za-z0-9.-]{{0,252}})(?::([1-9][0-9]{{0,4}}))?"
"""A host through which others are reached: user, address and port."""


@dataclass(frozen=True)
class Target:
    """One SSH server: address and user of the machine `host`. Contains no secrets.

    `known_hosts` is the only source of trusted host keys. `identity` names the private key's file where a
    build has one of its own; else the environment's. `timeout_scale` multiplies timeouts: a live emulated
    guest may be silent for a minute. `java`: a Java home that the study names. `jump`: the host through which
    it is reached, as in `JUMP`.
    """

    host: str
    address: str
    port: int
    user: str
    known_hosts: str
    identity: str = ""
    timeout_scale: int = 1
    folder: str = ""
    python: str = PYTHON
    java: str = ""
    jump: str = ""

    @property
    def work(self) -> PurePosixPath:
        """The program's folder on the host. It is checked there that it belongs only to the user, before it
        is used: another user may have made it first."""
        return PurePosixPath(self.folder or f"/var/tmp/density-study-{self.user}")

    @property
    def login(self) -> str:
        """The command by which a person logs in as this program does."""
        trusted = f" -o UserKnownHostsFile={self.known_hosts}" if self.known_hosts else ""
        jump = f" -J {self.jump}" if self.jump else ""
        return f"ssh -p {self.port}{trusted}{jump} {self.user}@{self.address}"

    @property
    def environment(self) -> tuple[str, ...]:
        """What a command line there begins with."""
        return ("env", f"JAVA_HOME={self.java}") if self.java else ()

    @property
    def via(self) -> Target | None:
        """The server through which it is reached. ValueError if `jump` is none."""
        if not self.jump:
            return None
        found = re.fullmatch(JUMP, self.jump)
        if found is None or int(found[3] or 22) > 65535:
            raise ValueError(f"{self.jump!r} is not a host to jump from, like admin@bastion:22")
        user, address, port = found.groups()
        return replace(
            self,
            host=address,
            address=address,
            port=int(port or 22),
            user=user or self.user,
            jump="",
        )

    def __str__(self) -> str:
        through = f" through {self.jump}" if self.jump else ""
        return f"host {self.host!r} ({self.user}@{self.address}:{self.port}{through})"


@dataclass(frozen=True)
class Login:
    """SSH login of a host, the Java found there, the program's folder if it is not the usual one, and the
    Python that runs its agent. `java` and `jump` as of `Target`. No secrets."""

    user: str
    port: int
    known_hosts: str
    java_home: str = ""
    java_version: str = ""
    folder: str = ""
    python: str = PYTHON
    java: str = ""
    jump: str = ""

    def target(self, host: str, address: str) -> Target:
        """The machine `host` at an address."""
        return Target(
            host,
            address,
            self.port,
            self.user,
            self.known_hosts,
            folder=self.folder,
            python=self.python,
            java=self.java,
            jump=self.jump,
        )


@dataclass(frozen=True)
class Host:
    """A physical machine. `memory_mib` is the part that the study may use, not all it has."""

    name: str
    address: str
    cores: int
    memory_mib: int
    disks: tuple[Disk, ...]
    roles: tuple[Role, ...] = ("worker",)
    usd_per_hour: float | None = None
    login: Login | None = None
    vms: VmHost | None = None
    containers: ContainerHost | None = None

    @property
    def divided(self) -> VmHost | ContainerHost | None:
        """How it is divided into nodes with addresses and systems of their own; None if it is not."""
        return self.vms or self.containers

    @property
    def target(self) -> Target:
        """Its SSH server. InputError if the study names no user."""
        if self.login is None:
            raise InputError(
                "the SSH user is not known.",
                f"host {self.name!r}",
                "add the key `ssh` to the study.",
            )
        return self.login.target(self.name, self.address)
