"""`Host` and `Disk`: what somebody owns, before anything is built on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Medium = Literal["flash", "hdd"]
Role = Literal["master", "worker", "client"]


@dataclass(frozen=True)
class Disk:
    """A directory on a disk, and the medium a probe has proved (or is to prove) it to be."""

    path: str
    medium: Medium
    emulated: bool = False


@dataclass(frozen=True)
class Login:
    """How a host is signed on to over SSH, and the Java 17 found there. Nothing secret."""

    user: str
    port: int
    known_hosts: str
    java_home: str = ""
    java_version: str = ""


@dataclass(frozen=True)
class Host:
    """A physical machine. `memory_mib` is what the study may use of it, not what it has."""

    name: str
    address: str
    cores: int
    memory_mib: int
    disks: tuple[Disk, ...]
    roles: tuple[Role, ...] = ("worker",)
    usd_per_hour: float | None = None
    login: Login | None = None
