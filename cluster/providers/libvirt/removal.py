"""Find and remove a build's resources in libvirt: only those with its tag in metadata or UUID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cluster.model.cluster import Site
from cluster.model.errors import StudyError
from cluster.providers.libvirt.guests import VOLUMES
from cluster.providers.libvirt.names import METADATA_URI, prefix, uuid_of
from cluster.providers.libvirt.virsh import Virsh
from cluster.providers.libvirt.xml import mark_in
from cluster.state.journal import Journal


@dataclass(frozen=True)
class OwnedResources:
    """The resources of a build in one libvirt. `volumes` are (pool, name)."""

    uri: str
    domains: tuple[str, ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    pools: tuple[str, ...] = ()
    networks: tuple[str, ...] = field(default=())

    @property
    def named(self) -> tuple[str, ...]:
        volumes = (f"{pool}/{volume}" for pool, volume in self.volumes)
        kinds = (
            ("domain", self.domains),
            ("volume", volumes),
            ("pool", self.pools),
            ("network", self.networks),
        )
        return tuple(f"{kind} {name} on {self.uri}" for kind, names in kinds for name in names)


def uris_of(site: Site, journal: Journal) -> list[str]:
    """Every libvirt in which this build intended to make something."""
    return sorted({intent.uri for intent in journal.intents(tag=site.tag) if intent.uri})


def find(virsh: Virsh, tag: str) -> OwnedResources:
    """Changes nothing, except that it starts the build's pools: only active ones list their volumes."""
    pools = tuple(_with_uuid(virsh, "pool-list", "pool", tag))
    return OwnedResources(
        uri=virsh.uri,
        domains=tuple(_domains(virsh, tag)),
        volumes=tuple((pool, volume) for pool in pools for volume in _volumes(virsh, pool)),
        pools=pools,
        networks=tuple(_with_uuid(virsh, "net-list", "network", tag)),
    )


def remove(virsh: Virsh, tag: str, journal: Journal) -> None:
    """Remove in the order of dependency: domains, volumes, pools, network."""
    ours = find(virsh, tag)
    for name in ours.domains:
        if virsh.run("domstate", name).strip() not in ("shut off", "crashed"):
            virsh.run("destroy", name)
        virsh.run("undefine", name)
        journal.write("domain-removed", tag=tag, uri=virsh.uri, domain=name)
    for pool, volume in find(virsh, tag).volumes:  # a guest's end may write its console's file anew
        virsh.run("vol-delete", volume, "--pool", pool)
    for pool in ours.pools:
        _remove_pool(virsh, pool)
        journal.write("pool-removed", tag=tag, uri=virsh.uri, pool=pool)
    for network in ours.networks:
        if network in virsh.names("net-list") and _active(virsh, "net-list", network):
            virsh.run("net-destroy", network)
        virsh.run("net-undefine", network)
        journal.write("network-removed", tag=tag, uri=virsh.uri, network=network)


def _domains(virsh: Virsh, tag: str) -> Iterator[str]:
    """Matched by name and metadata: a foreign domain may have any name."""
    for name in virsh.names("list"):
        if name.startswith(f"{prefix(tag)}-"):
            metadata = virsh.found("metadata", name, "--uri", METADATA_URI)
            if metadata is not None and mark_in(metadata) == tag:
                yield name


def _with_uuid(virsh: Virsh, listing: str, kind: str, tag: str) -> Iterator[str]:
    asked = {"net-list": "net-uuid", "pool-list": "pool-uuid"}[listing]
    for name in virsh.names(listing):
        if name.startswith(prefix(tag)):
            uuid = virsh.found(asked, name)
            if uuid is not None and uuid.strip() == uuid_of(tag, kind, name):
                yield name


def _volumes(virsh: Virsh, pool: str) -> Iterator[str]:
    """Volumes that a build makes; other files in the pool are not the build's."""
    if not _active(virsh, "pool-list", pool):
        try:
            virsh.run("pool-start", pool)
        except StudyError:
            return  # its directory is not there (yet, or any more): so is no volume
    for name in virsh.volumes(pool):
        if name.rpartition(".")[2] in VOLUMES:
            yield name


def _remove_pool(virsh: Virsh, pool: str) -> None:
    if _active(virsh, "pool-list", pool):
        virsh.run("pool-destroy", pool)
    try:
        virsh.run("pool-delete", pool)  # its directory, if it is empty
    except StudyError as error:
        if "No such file" not in error.what:
            raise
    virsh.run("pool-undefine", pool)


def _active(virsh: Virsh, listing: str, name: str) -> bool:
    return name in virsh.run(listing, "--name").split()
