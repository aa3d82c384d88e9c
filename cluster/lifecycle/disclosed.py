"""What a build discloses: software, rendered files, command lines, and what its provider knows. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from density_study.cluster.model.store import HBASE
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import Provider
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import CLASSPATH_SUFFIX
from density_study.cluster.render.rendered import Rendered


def disclose(
    blueprint: Blueprint, rendered: Rendered, stacks: Stacks, provider: Provider
) -> dict[str, Any]:
    """What another person needs to reproduce the cluster: software, machine, every rendered file with its
    SHA-256, every daemon's command line."""
    topology = blueprint.topology
    return {
        "provider": topology.provider,
        "isolation": topology.isolation,
        "stacks": stacks.disclose(),
        "files": {path: _file(path, text) for path, text in sorted(rendered.files.items())},
        "daemons": {
            f"{daemon.node}/{daemon.name}": list(daemon.command.argv) for daemon in rendered.daemons
        },
        **listens_on_all(blueprint),
        **_store_of(topology, stacks),
        **provider.disclose(topology),
    }


def listens_on_all(blueprint: Blueprint) -> dict[str, Any]:
    """Hadoop and the JVM bind these to every address and have no setting for it; all other listeners use the
    node's."""
    topology = blueprint.topology

    def at(service: str) -> list[str]:
        return [f"{w.name}: port {blueprint.ports.port(w, service)}" for w in topology.workers]

    found = {}
    if topology.store.on_hadoop:
        found["ShuffleHandler of the NodeManagers"] = at("nodemanager.shuffle")
        found["MapReduce ApplicationMaster"] = ["any worker: ephemeral ports, during a job"]
    if topology.store.name == "cassandra" and topology.isolation != "process":
        found["JMX of Cassandra"] = at("cassandra.jmx")
    return {"listens_on_all_addresses": found} if found else {}


def _store_of(topology: Topology, stacks: Stacks) -> dict[str, Any]:
    """The store, where the study names one: software, durability, and how that is rendered."""
    store, software = topology.store, stacks.store
    if store == HBASE and "store" not in topology.levels:
        return {}
    known = {"version": stacks.hbase.version}
    caution = {"caution": store.facts.caution} if store.facts.caution else {}
    if software is not None:
        known = {"version": software.version, "sha256": software.sha256}
    return {
        "store": {
            "name": software.name if software else store.facts.title,
            **known,
            "durability": store.durability,
            "acknowledged": store.facts.acknowledged[store.durability],
            **caution,
        }
    }


def _file(path: str, text: str) -> dict[str, str]:
    """A class path is disclosed by hash only; `stacks` discloses its jars."""
    entry = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    return entry if path.endswith(CLASSPATH_SUFFIX) else {**entry, "text": text}
