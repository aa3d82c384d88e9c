"""Names of a build's resources in libvirt. Pure: the same build and node have the same names.

Names carry a hash of the tag, domains the tag itself as metadata. Networks and pools have no
metadata in libvirt 9, so their UUID is derived from the tag: name and UUID identify the build.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from density_study.cluster.state.tags import short_hash

NAMESPACE = UUID("6f1d2a52-64a4-5d0c-9d5b-6b1f6a1f5f0e")
METADATA_URI = "urn:density-study:1"
IMAGE_POOL = "density-study-images"
"""The cache of golden images, which stays on a host between studies."""


def prefix(tag: str) -> str:
    """The beginning of every name of a build, and the name of its network: study-0123456789ab."""
    return f"study-{short_hash(tag)}"


def domain_name(tag: str, node: str) -> str:
    return f"{prefix(tag)}-{node}"


def pool_name(tag: str, disk_path: str) -> str:
    """A build has a pool on each disk it uses."""
    return f"{prefix(tag)}-{short_hash(disk_path)[:6]}"


def bridge_name(tag: str) -> str:
    """At most 15 characters, as Linux wants it."""
    return f"ds{short_hash(tag)}"


def uuid_of(tag: str, kind: str, name: str) -> str:
    """The UUID that a domain, pool or network of that name has if it is the build's."""
    return str(uuid5(NAMESPACE, f"{tag}\n{kind}\n{name}"))


def mac_of(tag: str, node: str) -> str:
    """A MAC address in the range that QEMU and libvirt use (52:54:00)."""
    digits = short_hash(f"{tag}/{node}")
    return f"52:54:00:{digits[:2]}:{digits[2:4]}:{digits[4:6]}"
