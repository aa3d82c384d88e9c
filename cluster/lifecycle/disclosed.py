"""What a build discloses: software, rendered files, command lines, and what its provider knows. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from density_study.cluster.model.store import default_store
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import Provider
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import CLASSPATH_SUFFIX
from density_study.cluster.render.rendered import Rendered
from density_study.cluster.stores.store import store_of


def disclose(
    blueprint: Blueprint, rendered: Rendered, stacks: Stacks, provider: Provider[Topology]
) -> dict[str, Any]:
    """What another person needs to reproduce the cluster: software, machine, every rendered file with its
    SHA-256, every daemon's command line."""
    topology = blueprint.topology
    listeners = store_of(topology).listens_on_all(blueprint)
    return {
        "provider": provider.name,
        "isolation": topology.isolation,
        "stacks": stacks.disclose(),
        "files": {path: _file(path, text) for path, text in sorted(rendered.files.items())},
        "daemons": {
            f"{daemon.node}/{daemon.name}": list(daemon.command.argv) for daemon in rendered.daemons
        },
        **({"listens_on_all_addresses": listeners} if listeners else {}),
        **_store_of(topology, stacks),
        **provider.disclose(topology),
    }


def _store_of(topology: Topology, stacks: Stacks) -> dict[str, Any]:
    """The store, where the study names one: software, durability, and how that is rendered."""
    store, software = topology.store, stacks.store
    if store == default_store() and "store" not in topology.levels:
        return {}
    known = {"version": stacks.hbase.version}
    caution = {"caution": store.caution} if store.caution else {}
    if software is not None:
        known = {"version": software.version, "sha256": software.sha256}
    return {
        "store": {
            "name": software.name if software else store.title,
            **known,
            "durability": store.durability,
            "acknowledged": store.acknowledged[store.durability],
            **caution,
        }
    }


def _file(path: str, text: str) -> dict[str, str]:
    """A class path is disclosed by hash only; `stacks` discloses its jars."""
    entry = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    return entry if path.endswith(CLASSPATH_SUFFIX) else {**entry, "text": text}
