"""The disclosure of a build: what another person needs to reproduce the cluster."""

from __future__ import annotations

import hashlib
from typing import Any

from cluster.providers.provider import Provider
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import Blueprint
from cluster.render.conf_files import CLASSPATH_SUFFIX
from cluster.render.rendered import Rendered


def disclose(
    blueprint: Blueprint, rendered: Rendered, stacks: Stacks, provider: Provider
) -> dict[str, Any]:
    """Software, machine, every rendered file with its SHA-256, every daemon's command line."""
    topology = blueprint.topology
    return {
        "provider": topology.provider,
        "isolation": topology.isolation,
        "stacks": stacks.disclose(),
        "wal_provider": blueprint.wal_provider,
        "files": {path: _file(path, text) for path, text in sorted(rendered.files.items())},
        "daemons": {
            f"{daemon.node}/{daemon.name}": list(daemon.command.argv) for daemon in rendered.daemons
        },
        "listens_on_all_addresses": _wildcards(blueprint),
        **provider.disclose(topology),
    }


def _wildcards(blueprint: Blueprint) -> dict[str, list[str]]:
    """Hadoop binds these to every address and has no setting for it; all other listeners use the node's."""
    workers = blueprint.topology.workers
    ports = [blueprint.ports.port(worker, "nodemanager.shuffle") for worker in workers]
    return {
        "ShuffleHandler of the NodeManagers": [
            f"{worker.name}: port {port}" for worker, port in zip(workers, ports, strict=True)
        ],
        "MapReduce ApplicationMaster": ["any worker: ephemeral ports, during a job"],
    }


def _file(path: str, text: str) -> dict[str, str]:
    """A class path is disclosed by hash only; `stacks` discloses its jars."""
    entry = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    return entry if path.endswith(CLASSPATH_SUFFIX) else {**entry, "text": text}
