"""Making a build's guests: network, pools, volumes, domains. Each act is journalled before it is done."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.cluster import Site
from density_study.cluster.providers.libvirt.accel import find_acceleration
from density_study.cluster.providers.libvirt.guests import Guest, Network, by_uri
from density_study.cluster.providers.libvirt.image import UID, USER
from density_study.cluster.providers.libvirt.keys import Keys, public_of
from density_study.cluster.providers.libvirt.names import prefix, uuid_of
from density_study.cluster.providers.libvirt.store import Stored, store
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.libvirt.xml import network_xml, pool_xml, volume_xml
from density_study.cluster.providers.ssh.channel import on_all
from density_study.cluster.providers.ssh.stack_copies import add_text
from density_study.cluster.state.events import Accel
from density_study.cluster.state.journal import Journal

SECTOR_BYTES = 512


@dataclass(frozen=True)
class Maker:
    """Makes what one build has in one libvirt."""

    virsh: Virsh
    site: Site
    journal: Journal

    def make(self, guests: Sequence[Guest], network: Network, image: Path, keys: Keys) -> Accel:
        """All guests of this libvirt, defined and started. Returns how they run."""
        stored = store(self.virsh, guests[0].vms.images, image, self.journal, self.site.tag)
        accel = find_acceleration(self.virsh, self.site, self.journal, stored.kernel)
        self.network(network)
        self.pools(guests)
        for guest in guests:
            self.volumes(guest, stored, keys)
            self.domain(guest, accel, stored)
        for guest in guests:
            self.start(guest)
        return accel

    def network(self, network: Network) -> None:
        name = prefix(self.site.tag)
        self._intent("make-network", network=name)
        xml = network_xml(name, uuid_of(self.site.tag, "network", name), *network)
        self.virsh.run("net-define", "/dev/stdin", stdin=xml)
        self.virsh.run("net-start", name)

    def pools(self, guests: Sequence[Guest]) -> None:
        disks = (disk for guest in guests for disk in guest.data)
        for name, path in {disk.pool: disk.pool_path for disk in disks}.items():
            self._intent("make-pool", pool=name, path=str(path))
            xml = pool_xml(name, uuid_of(self.site.tag, "pool", name), path)
            self.virsh.run("pool-define", "/dev/stdin", stdin=xml)
            self.virsh.run("pool-build", name)
            self.virsh.run("pool-start", name)

    def volumes(self, guest: Guest, stored: Stored, keys: Keys) -> None:
        """Its clone of the golden image, its seed and its empty data disks."""
        clone = volume_xml(guest.volume("root"), stored.root_bytes, "qcow2", stored.root)
        self._volume(guest, guest.pool, "root", clone)
        seed = seed_bytes(guest, keys)
        self._volume(guest, guest.pool, "seed", volume_xml(guest.volume("seed"), len(seed)))
        with tempfile.NamedTemporaryFile(dir=keys.folder) as file:  # 0600, in a folder of 0700
            file.write(seed)
            file.flush()
            self.virsh.upload(guest.pool, guest.volume("seed"), Path(file.name))
        for disk in guest.data:
            whole = guest.vms.preallocated
            data = volume_xml(guest.volume(disk.serial), disk.size_bytes, allocated=whole)
            self._volume(guest, disk.pool, disk.serial, data)

    def domain(self, guest: Guest, accel: Accel, stored: Stored) -> None:
        self._intent("make-domain", domain=guest.domain, node=guest.node.name)
        xml = guest.xml(accel, stored.kernel, stored.initrd)
        self.virsh.run("define", "/dev/stdin", stdin=xml)

    def start(self, guest: Guest) -> None:
        self._intent("start-domain", domain=guest.domain, node=guest.node.name)
        self.virsh.run("start", guest.domain)

    def _volume(self, guest: Guest, pool: str, kind: str, xml: str) -> None:
        self._intent("make-volume", pool=pool, volume=guest.volume(kind))
        self.virsh.run("vol-create", pool, "/dev/stdin", stdin=xml)

    def _intent(self, act: str, **fields: str) -> None:
        self.journal.intend(act, self.site.tag, uri=self.virsh.uri, **fields)


def make_all(
    site: Site,
    journal: Journal,
    everyone: Sequence[Guest],
    network_of: Mapping[str, Network],
    image: Path,
    keys: Keys,
) -> dict[str, Accel]:
    """The guests of all hosts at once; how they run, by libvirt's URI, as `network_of`."""

    def make(uri: str, here: Sequence[Guest]) -> Accel:
        return Maker(Virsh(uri), site, journal).make(here, network_of[uri], image, keys)

    return on_all(by_uri(everyone), make)


def seed_bytes(guest: Guest, keys: Keys) -> bytes:
    """The seed: a tar of name, addresses and keys, which the golden image unpacks over its root at boot.

    Padded to whole sectors; the same bytes for the same guest and keys. It holds a private key, so it goes to
    a volume that only the hypervisor's administrator can read. With the names of all nodes in it, guests need
    no name server.
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
        "etc/study-drives": (0o644, 0, "\n".join(disk.serial for disk in guest.data)),
        "etc/systemd/network/10-study.network": (0o644, 0, "\n".join(network)),
        f"home/{USER}/.ssh/authorized_keys": (0o600, UID, public_of(keys.identity)),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, (mode, owner, text) in files.items():
            add_text(archive, path, text + "\n", mode, owner)
    content = buffer.getvalue()
    return content + b"\0" * (-len(content) % SECTOR_BYTES)
