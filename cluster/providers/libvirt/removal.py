"""Find and remove a build's resources in libvirt: only those with its tag in metadata or UUID."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError, do_all, each_of
from density_study.cluster.providers.libvirt.guests import VOLUMES
from density_study.cluster.providers.libvirt.names import METADATA_URI, prefix, uuid_of
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.libvirt.xml import tag_in
from density_study.cluster.providers.ssh.channel import look_on_all, on_all
from density_study.cluster.state.journal import Journal

_ABSENT = "No such file"


def uris_of(site: Site, journal: Journal) -> list[str]:
    """Every libvirt in which this build intended to make something."""
    return sorted({intent.uri for intent in journal.intents(tag=site.tag) if intent.uri})


def remove_all(site: Site, journal: Journal) -> None:
    """`remove` in all of them at once: one that does not answer does not keep the others'."""
    uris = uris_of(site, journal)
    on_all(dict.fromkeys(uris), lambda uri, _: remove(Virsh(uri), site.tag, journal))


def find_all(site: Site, journal: Journal) -> tuple[str, ...]:
    """What `find` finds in all of them, in words."""

    def found(uri: str, _: object) -> list[str]:
        ours = find(Virsh(uri), site.tag)
        return [f"{kind} {name} on {uri}" for kind, names in ours.items() for name in names]

    return look_on_all(dict.fromkeys(uris_of(site, journal)), found)


def find(virsh: Virsh, tag: str) -> dict[str, list[str]]:
    """The resources of a build in one libvirt by kind; a volume as <pool>/<volume>.

    Changes nothing, except that it starts the build's pools: only active ones list their volumes.
    """
    return {
        "domain": _domains(virsh, tag),
        "volume": _volumes(virsh, tag),
        "pool": _with_uuid(virsh, "pool", tag),
        "network": _with_uuid(virsh, "net", tag),
    }


def remove(virsh: Virsh, tag: str, journal: Journal) -> None:
    """Remove in the order of dependency: domains, volumes, pools, network."""

    def remove_domain(name: str) -> None:
        virsh.stop(name)
        virsh.run("undefine", name)
        journal.write("domain-removed", tag=tag, uri=virsh.uri, domain=name)

    def remove_volume(path: str) -> None:
        pool, _, volume = path.partition("/")
        virsh.delete_volume(pool, volume)

    def remove_pool(pool: str) -> None:
        _remove_pool(virsh, pool)
        journal.write("pool-removed", tag=tag, uri=virsh.uri, pool=pool)

    def remove_network(network: str) -> None:
        if virsh.active("net-list", network):
            virsh.run("net-destroy", network)
        virsh.run("net-undefine", network)
        journal.write("network-removed", tag=tag, uri=virsh.uri, network=network)

    do_all(
        lambda: each_of(_domains(virsh, tag), remove_domain),
        # found now: a guest's end may write its console's file anew
        lambda: each_of(_volumes(virsh, tag), remove_volume),
        lambda: each_of(_with_uuid(virsh, "pool", tag), remove_pool),
        lambda: each_of(_with_uuid(virsh, "net", tag), remove_network),
    )


def _domains(virsh: Virsh, tag: str) -> list[str]:
    return [name for name in virsh.names("list") if _is_ours(virsh, name, tag)]


def _is_ours(virsh: Virsh, domain: str, tag: str) -> bool:
    """Whether name and metadata are this build's: a foreign domain may have any name."""
    if not domain.startswith(f"{prefix(tag)}-"):
        return False
    metadata = virsh.found("metadata", domain, "--uri", METADATA_URI)
    return metadata is not None and tag_in(metadata) == tag


def _with_uuid(virsh: Virsh, kind: Literal["net", "pool"], tag: str) -> list[str]:
    """Networks or pools with the build's name and UUID."""
    named = (name for name in virsh.names(f"{kind}-list") if name.startswith(prefix(tag)))
    uuids = {name: (virsh.found(f"{kind}-uuid", name) or "").strip() for name in named}
    word = "network" if kind == "net" else "pool"
    return [name for name, uuid in uuids.items() if uuid == uuid_of(tag, word, name)]


def _volumes(virsh: Virsh, tag: str) -> list[str]:
    pools = _with_uuid(virsh, "pool", tag)
    return [f"{pool}/{volume}" for pool in pools for volume in _in_pool(virsh, pool)]


def _in_pool(virsh: Virsh, pool: str) -> Iterator[str]:
    """Volumes that a build makes; other files in the pool are not the build's."""
    if not virsh.active("pool-list", pool):
        try:
            virsh.run("pool-start", pool)
        except StudyError as error:
            if _ABSENT not in error.what:
                raise
            return  # its directory, and so its volumes, do not exist (yet, or any more)
    for name in virsh.volumes(pool):
        if name.rpartition(".")[2].partition("-")[0] in VOLUMES:
            yield name


def _remove_pool(virsh: Virsh, pool: str) -> None:
    if virsh.active("pool-list", pool):
        virsh.run("pool-destroy", pool)
    try:
        virsh.run("pool-delete", pool)  # its directory, if it is empty
    except StudyError as error:
        if _ABSENT not in error.what:
            raise
    virsh.run("pool-undefine", pool)
