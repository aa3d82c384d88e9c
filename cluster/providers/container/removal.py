"""Find and remove what a build's containers have on this machine, by names that only this build has."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from density_study.cluster.providers.container import cgroups
from density_study.cluster.providers.container.bundle import NETNS
from density_study.cluster.providers.container.making import run
from density_study.cluster.providers.container.names import bridge_name, link_name, prefix
from density_study.cluster.state.journal import Journal

RUNC = Path("/run/runc")
"""runc's folder of a root user: a container has a folder there before it has anything else."""
_GONE_WITHIN_S = 5.0


def find(tag: str, journal: Journal) -> dict[str, list[str]]:
    """What exists, by kind. Changes nothing."""
    nodes = {intent.node for intent in journal.intents("make-netns", tag)}
    links = [bridge_name(tag), *(link_name(tag, node) for node in sorted(nodes))]
    return {
        "container": _names(RUNC, tag),
        "cgroup": cgroups.names(prefix(tag)),
        "network namespace": _names(NETNS, tag),
        "network interface": [name for name in links if _is_there(name)],
    }


def remove(tag: str, journal: Journal) -> None:
    """Remove in the order of dependency; `find` tells what is left."""
    ours = find(tag, journal)
    for name in ours["container"]:
        run(["runc", "delete", "--force", name], tag)
        journal.write("container-removed", tag=tag, container=name)
    for name in ours["cgroup"]:
        _remove_groups(name)
    for name in ours["network namespace"]:
        run(["ip", "netns", "delete", name], tag)
        journal.write("netns-removed", tag=tag, netns=name)
    for name in reversed(ours["network interface"]):  # the bridge last; a cable may be gone already
        run(["ip", "link", "delete", name], tag)
    journal.write("network-removed", tag=tag, bridge=bridge_name(tag))


def _names(folder: Path, tag: str) -> list[str]:
    """/run/netns/<name> may be a file that is not mounted any more: it counts, too."""
    return sorted(path.name for path in folder.glob(f"{prefix(tag)}*"))


def _is_there(link: str) -> bool:
    try:
        socket.if_nametoindex(link)
    except OSError:
        return False
    return True


def _remove_groups(name: str) -> None:
    """The kernel keeps a cgroup until its last process is gone, for a moment."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while (left := cgroups.groups(name)) and time.monotonic() < deadline:
        for path in left:
            try:
                path.rmdir()
            except OSError:
                time.sleep(0.02)
