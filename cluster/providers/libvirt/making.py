"""Making a build's guests: network, pools, volumes, domains. Each act is journalled before it is done."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from cluster.model.cluster import Site
from cluster.providers.libvirt.accel import find_acceleration
from cluster.providers.libvirt.guests import Guest, Network
from cluster.providers.libvirt.image import Image
from cluster.providers.libvirt.keys import Keys
from cluster.providers.libvirt.names import network_name, uuid_of
from cluster.providers.libvirt.seed import seed_bytes
from cluster.providers.libvirt.store import Stored, store
from cluster.providers.libvirt.virsh import Virsh
from cluster.providers.libvirt.xml import network_xml, pool_xml, volume_xml
from cluster.state.events import Accel
from cluster.state.journal import Journal

GIB = 2**30


class Maker:
    """Makes what one build has in one libvirt."""

    def __init__(self, virsh: Virsh, site: Site, journal: Journal) -> None:
        self._virsh = virsh
        self._site = site
        self._journal = journal

    def make(self, guests: Sequence[Guest], network: Network, image: Image, keys: Keys) -> Accel:
        """All guests of this libvirt, defined and started. Returns how they run."""
        stored = store(self._virsh, guests[0].vms.images, image, self._journal, self._site.tag)
        accel = find_acceleration(self._virsh, self._site, self._journal, stored.kernel)
        self.network(network)
        self.pools(guests)
        for guest in guests:
            self.volumes(guest, stored, keys)
            self.domain(guest, accel, stored)
        for guest in guests:
            self.start(guest)
        return accel

    def network(self, network: Network) -> None:
        name = network_name(self._site.tag)
        self._intent("make-network", network=name)
        xml = network_xml(name, uuid_of(self._site.tag, "network", name), *network)
        self._virsh.run("net-define", "/dev/stdin", stdin=xml)
        self._virsh.run("net-start", name)

    def pools(self, guests: Sequence[Guest]) -> None:
        for name, path in {guest.pool: guest.pool_path for guest in guests}.items():
            self._intent("make-pool", pool=name, path=str(path))
            xml = pool_xml(name, uuid_of(self._site.tag, "pool", name), path)
            self._virsh.run("pool-define", "/dev/stdin", stdin=xml)
            self._virsh.run("pool-build", name)
            self._virsh.run("pool-start", name)

    def volumes(self, guest: Guest, stored: Stored, keys: Keys) -> None:
        """Its clone of the golden image, its seed and its empty data disk."""
        clone = volume_xml(guest.volume("root"), stored.root_bytes, "qcow2", stored.root)
        self._volume(guest, "root", clone)
        seed = seed_bytes(guest, keys)
        self._volume(guest, "seed", volume_xml(guest.volume("seed"), len(seed), secret=True))
        with tempfile.NamedTemporaryFile(dir=keys.folder) as file:  # 0600, in a folder of 0700
            file.write(seed)
            file.flush()
            self._virsh.upload(guest.pool, guest.volume("seed"), Path(file.name))
        data = volume_xml(guest.volume("data"), guest.vms.data_gib * GIB)
        self._volume(guest, "data", data)

    def domain(self, guest: Guest, accel: Accel, stored: Stored) -> None:
        self._intent("make-domain", domain=guest.domain, node=guest.node.name)
        xml = guest.xml(accel, stored.kernel, stored.initrd)
        self._virsh.run("define", "/dev/stdin", stdin=xml)

    def start(self, guest: Guest) -> None:
        self._intent("start-domain", domain=guest.domain, node=guest.node.name)
        self._virsh.run("start", guest.domain)

    def _volume(self, guest: Guest, kind: str, xml: str) -> None:
        self._intent("make-volume", pool=guest.pool, volume=guest.volume(kind))
        self._virsh.run("vol-create", guest.pool, "/dev/stdin", stdin=xml)

    def _intent(self, act: str, **fields: str) -> None:
        self._journal.intend(act, self._site.tag, uri=self._virsh.uri, **fields)
