"""Making a build's guests: network, pools, volumes, domains. Each act is journalled before it is done."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from cluster.model.cluster import Site
from cluster.providers.libvirt.guests import Guest
from cluster.providers.libvirt.keys import Keys, public_of
from cluster.providers.libvirt.names import network_name, uuid_of
from cluster.providers.libvirt.seed import Seed, seed_bytes
from cluster.providers.libvirt.store import Stored
from cluster.providers.libvirt.virsh import Virsh
from cluster.providers.libvirt.xml import domain_xml, network_xml, pool_xml, volume_xml
from cluster.state.events import Accel
from cluster.state.journal import Journal

GIB = 2**30


class Maker:
    """Makes what one build has in one libvirt."""

    def __init__(self, virsh: Virsh, site: Site, journal: Journal) -> None:
        self._virsh = virsh
        self._site = site
        self._journal = journal

    def network(self, uuid: str, bridge: str, address: str | None) -> None:
        name = network_name(self._site.tag)
        self._intent("make-network", network=name)
        xml = network_xml(name, uuid, bridge, address)
        self._virsh.run("net-define", "/dev/stdin", stdin=xml)
        self._virsh.run("net-start", name)

    def pools(self, guests: Sequence[Guest]) -> None:
        for name, path in {guest.pool: guest.pool_path for guest in guests}.items():
            self._intent("make-pool", pool=name, path=str(path))
            xml = pool_xml(name, uuid_of(self._site.tag, "pool", name), path)
            self._virsh.run("pool-define", "/dev/stdin", stdin=xml)
            self._virsh.run("pool-build", name)
            self._virsh.run("pool-start", name)

    def volumes(self, guest: Guest, stored: Stored, keys: Keys, names: dict[str, str]) -> None:
        """Its clone of the golden image, its seed and its empty data disk."""
        clone = volume_xml(guest.volume("root"), stored.root_bytes, "qcow2", stored.root)
        self._volume(guest, "root", clone)
        seed = seed_bytes(_seed(guest, keys, names))
        self._volume(guest, "seed", volume_xml(guest.volume("seed"), len(seed), secret=True))
        with tempfile.NamedTemporaryFile(dir=keys.folder) as file:  # 0600, and so is the folder
            file.write(seed)
            file.flush()
            self._virsh.upload(guest.pool, guest.volume("seed"), Path(file.name))
        data = volume_xml(guest.volume("data"), guest.vms.data_gib * GIB)
        self._volume(guest, "data", data)

    def domain(self, guest: Guest, accel: Accel, stored: Stored) -> None:
        self._intent("make-domain", domain=guest.domain, node=guest.node.name)
        xml = domain_xml(guest.xml(accel, stored.kernel, stored.initrd))
        self._virsh.run("define", "/dev/stdin", stdin=xml)

    def start(self, guest: Guest) -> None:
        self._intent("start-domain", domain=guest.domain, node=guest.node.name)
        self._virsh.run("start", guest.domain)

    def _volume(self, guest: Guest, kind: str, xml: str) -> None:
        self._intent("make-volume", pool=guest.pool, volume=guest.volume(kind))
        self._virsh.run("vol-create", guest.pool, "/dev/stdin", stdin=xml)

    def _intent(self, act: str, **fields: str) -> None:
        self._journal.intend(act, self._site.tag, uri=self._virsh.uri, **fields)


def _seed(guest: Guest, keys: Keys, names: dict[str, str]) -> Seed:
    key = keys.host_key(guest.node.name)
    return Seed(
        name=guest.node.name,
        mac=guest.mac,
        address=guest.address,
        gateway=guest.vms.gateway,
        names=names,
        authorized_key=keys.authorized,
        host_key=key.read_text(),
        host_key_public=public_of(key),
    )
