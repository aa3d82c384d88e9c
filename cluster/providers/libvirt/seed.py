"""The seed of a guest: a tar of name, addresses and keys, on a small raw disk of its own.

The golden image unpacks it over its root at boot. No tool is needed to make it.
"""

from __future__ import annotations

import io
import tarfile

from cluster.providers.libvirt.guests import Guest
from cluster.providers.libvirt.image import UID, USER
from cluster.providers.libvirt.keys import Keys, public_of

SECTOR_BYTES = 512


def seed_bytes(guest: Guest, keys: Keys) -> bytes:
    """A tar, padded to whole sectors; the same bytes for the same guest and keys.

    It holds a private key, so it goes to a volume that only the hypervisor's administrator can read.
    With the names of all nodes in it, guests need no name server.
    """
    key = keys.host_key(guest.node.name)
    hosts = [f"{address} {name}" for address, name in guest.names.items()]
    network = [
        "[Match]",
        f"MACAddress={guest.mac}",
        "[Network]",
        f"Address={guest.address}",
        "LinkLocalAddressing=no",
        "IPv6AcceptRA=no",
        *([f"Gateway={guest.vms.gateway}"] if guest.vms.gateway else []),
    ]
    files = {
        "etc/hostname": (0o644, 0, guest.node.name),
        "etc/hosts": (0o644, 0, "\n".join(["127.0.0.1 localhost", *hosts])),
        "etc/ssh/ssh_host_ed25519_key": (0o600, 0, key.read_text().removesuffix("\n")),
        "etc/ssh/ssh_host_ed25519_key.pub": (0o644, 0, public_of(key)),
        "etc/systemd/network/10-study.network": (0o644, 0, "\n".join(network)),
        f"home/{USER}/.ssh/authorized_keys": (0o600, UID, public_of(keys.identity)),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, (mode, owner, text) in files.items():
            _add(archive, path, mode, owner, text + "\n")
    content = buffer.getvalue()
    return content + b"\0" * (-len(content) % SECTOR_BYTES)


def _add(archive: tarfile.TarFile, path: str, mode: int, owner: int, text: str) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(path)
    entry.mode, entry.uid, entry.gid, entry.size = mode, owner, owner, len(content)
    archive.addfile(entry, io.BytesIO(content))
