"""Provider `existing` with an endpoint: one namespace on a store of others: keys, a keyspace or sets.

Nothing else of the store is written, removed, flushed, compacted or configured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Endpoints, Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.topology import ExistingTopology
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.providers.existing import watched
from density_study.cluster.providers.existing.endpoint_tool import ask_store, endpoint_properties
from density_study.cluster.providers.existing.joined import Joined
from density_study.cluster.providers.existing.prometheus import instances_of
from density_study.cluster.providers.existing.provider import OWNED, ExistingProvider, client_conf
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.render.conf_files import store_client_files
from density_study.cluster.state import atomic
from density_study.cluster.state.events import Intent
from density_study.cluster.state.journal import Journal
from density_study.cluster.stores.store import store_of

ENDPOINT = "endpoint.json"
"""A file in the clients' folder that says how to reach the store, for tear-down."""


class EndpointProvider(ExistingProvider):
    def check_existing(self, topology: ExistingTopology, needed_mib: int, for_s: float) -> None:
        facts, owner = ask_store(endpoint_properties(topology), "facts", "owner")
        _check_free(topology, owner)
        _check_facts(topology, facts, needed_mib)
        existing = topology.existing
        if existing.prometheus is not None and existing.endpoint is not None:
            instances_of(existing.prometheus, existing.endpoint.hosts)

    def versions(self, topology: ExistingTopology) -> Versions:
        return VERSIONS  # versions of the client's own tools: the store is neither Hadoop nor HBase

    def create(self, site: Site, topology: ExistingTopology, journal: Journal) -> None:
        existing, conf = topology.existing, client_conf(site)
        properties = endpoint_properties(topology)
        for node in topology.nodes:
            directories.make(site, node, journal)
        watched.reach(site, existing, journal)
        for name, text in store_client_files().items():
            atomic.write_text(conf / name, text, mode=0o600)
        described = json.dumps(properties, indent=2) + "\n"
        atomic.write_text(conf / ENDPOINT, described, mode=0o600)
        # what was there is not ours to remove
        _check_free(topology, *ask_store(properties, "owner"))
        journal.intend(OWNED, site.tag, path=existing.namespace)
        ask_store({**properties, "tag": site.tag}, "claim")

    def join(self, site: Site, topology: ExistingTopology) -> Joined:
        existing, store = topology.existing, store_of(topology)
        assert existing.endpoint is not None
        (facts,) = ask_store(endpoint_properties(topology), "facts")
        level = store.promised(facts)
        seen = {
            **facts,
            "store": store.title,
            "durability": store.durability,
            "durability_from": "servers" if level else "study",
            "tls": bool(existing.endpoint.ca_file),
            "unwatched": watched.unwatched(existing, existing.endpoint.hosts),
            **({"caution": store.caution} if store.caution else {}),
        }
        endpoints = Endpoints({"store": {one: one for one in existing.endpoint.addresses}})
        return Joined(VERSIONS, endpoints, client_conf(site), seen)

    def transport(self, site: Site, journal: Journal) -> LocalTransport:
        return LocalTransport(site.tag, journal)

    def _tag(self, site: Site, intent: Intent) -> str | None:
        (owner,) = ask_store(_saved(site), "owner")
        tag: str | None = owner.get("tag")
        return tag

    def _remove(self, site: Site, intent: Intent) -> None:
        _, owner = ask_store({**_saved(site), "tag": site.tag}, "release", "owner")
        if owner.get("tag") == site.tag:
            raise StudyError("it is still there.", f"namespace {intent.path}", "remove it.")


def _saved(site: Site) -> dict[str, str]:
    properties: dict[str, str] = json.loads((client_conf(site) / ENDPOINT).read_bytes())
    return properties


def _check_free(topology: ExistingTopology, owner: Mapping[str, Any]) -> None:
    namespace = topology.existing.namespace
    if "tag" in owner:
        raise InputError(
            f"{topology.store.title} has keys, a keyspace or sets {namespace} already "
            f"({owner['tag']}); a study makes its own, and removes it.",
            f"namespace {namespace}",
            "name another one in existing.namespace; `study reap` removes what killed runs left.",
        )


def _check_facts(topology: ExistingTopology, facts: Mapping[str, Any], needed_mib: int) -> None:
    """InputError if the servers do not keep what the study declares, or have no room for its rows."""
    store = store_of(topology)
    level = store.promised(facts)
    endpoint = topology.existing.endpoint
    assert endpoint is not None
    words = ", ".join(f"{name} {facts[name]}" for name in store.deciding)
    if level is None and "unknown" not in words:
        raise InputError(
            f"its servers differ in their durability, or it is not a known one: {words}.",
            store.title,
            f"give all servers equal settings: {', '.join(store.deciding)}.",
        )
    if level not in (None, store.durability):
        raise InputError(
            f"its servers keep {level} ({words}), and the study declares {store.durability}.",
            store.title,
            f"write durability: {level}.",
            ("store",),
        )
    if "free_bytes" in facts and facts["free_bytes"] < needed_mib * 2**20:
        raise InputError(
            f"{facts['free_bytes'] // 2**20:,} MiB are left below {store.room}, and the study writes up to "
            f"{needed_mib:,} MiB: the servers would evict data of others, or refuse writes.",
            store.title,
            "load fewer records, or ask for a higher limit.",
        )
    if endpoint.replication > facts.get("nodes", endpoint.replication):
        raise InputError(
            f"{endpoint.replication} replicas need as many nodes; it has {facts['nodes']}.",
            store.title,
            "write a smaller existing.endpoint.replication.",
        )
