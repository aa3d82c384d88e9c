"""Names of what a build has on a machine. Pure. A hash of the tag in them identifies the build."""

from __future__ import annotations

from density_study.cluster.state.tags import short_hash


def container_id(tag: str, host: str, node: str) -> str:
    """study-0123456789ab-<host>.<node>, also the name of the container's network namespace and cgroups."""
    return f"study-{short_hash(tag)}-{host}.{node}"


def bridge_name(tag: str) -> str:
    """At most 15 characters, as Linux wants it."""
    return f"ds{short_hash(tag)}"


def link_name(tag: str, node: str) -> str:
    """The host's end of the veth pair between the bridge and a container."""
    return f"dv{short_hash(f'{tag}/{node}')}"
