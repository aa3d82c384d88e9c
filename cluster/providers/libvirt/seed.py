"""The seed of a guest: a tar of name, addresses and keys, on a small raw disk of its own. Pure.

The golden image unpacks it over its root at boot. No tool is needed to make it, and a golden test can
read it.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from cluster.providers.libvirt.guest import UID, USER

SECTOR_BYTES = 512
_HOST_KEY = "etc/ssh/ssh_host_ed25519_key"


@dataclass(frozen=True)
class Seed:
    """The configuration of one guest. `address` is IPv4 with its prefix length, as 192.0.2.21/24.

    `names` maps addresses to the names of all nodes: the guests need no name server. The host key is
    secret: the seed's bytes go to a volume that only the hypervisor's administrator can read.
    """

    name: str
    mac: str
    address: str
    gateway: str | None
    names: Mapping[str, str]
    authorized_key: str
    host_key: str = field(repr=False)
    host_key_public: str


def seed_bytes(seed: Seed) -> bytes:
    """A tar, padded to whole sectors; the same bytes for the same seed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, (mode, owner, text) in sorted(_files(seed).items()):
            _add(archive, path, mode, owner, text)
    content = buffer.getvalue()
    return content + b"\0" * (-len(content) % SECTOR_BYTES)


def _files(seed: Seed) -> dict[str, tuple[int, int, str]]:
    hosts = "127.0.0.1 localhost\n" + "".join(
        f"{address} {name}\n" for address, name in seed.names.items()
    )
    return {
        "etc/hostname": (0o644, 0, f"{seed.name}\n"),
        "etc/hosts": (0o644, 0, hosts),
        "etc/systemd/network/10-study.network": (0o644, 0, _network(seed)),
        _HOST_KEY: (0o600, 0, seed.host_key),
        f"{_HOST_KEY}.pub": (0o644, 0, seed.host_key_public + "\n"),
        f"home/{USER}/.ssh/authorized_keys": (0o600, UID, seed.authorized_key + "\n"),
    }


def _network(seed: Seed) -> str:
    lines = [
        "[Match]",
        f"MACAddress={seed.mac}",
        "[Network]",
        f"Address={seed.address}",
        "LinkLocalAddressing=no",
        "IPv6AcceptRA=no",
    ]
    if seed.gateway:
        lines.append(f"Gateway={seed.gateway}")
    return "".join(f"{line}\n" for line in lines)


def _add(archive: tarfile.TarFile, path: str, mode: int, owner: int, text: str) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(path)
    entry.mode, entry.uid, entry.gid, entry.size = mode, owner, owner, len(content)
    archive.addfile(entry, io.BytesIO(content))
