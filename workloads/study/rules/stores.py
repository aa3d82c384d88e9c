"""Rules of the key `store` and of the stores that a study compares."""

from __future__ import annotations

from density_study.cluster.model.store import FACTS, Store
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.existing_spec import EndpointSpec
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.store_spec import StoreSpec


def check_stores(study: StudyKeys) -> None:
    """ValueError for the first rule of stores that the study violates."""
    levels = study.factors.stores()
    if levels and study.store != StoreSpec():
        raise FaultyKeyError("the stores are those of factors.store; remove this key", "store")
    key = ("factors", "store") if levels else ("store",)
    endpoint = study.existing.endpoint if study.existing else None
    for store in levels.values() or (study.store.store,):
        if endpoint is not None:
            _check_endpoint(store, endpoint, key)
        if not store.facts.built and endpoint is None:
            raise FaultyKeyError(
                f"no package registry has a server of {store.facts.title}, so that none can be built; "
                "measure one that stands, with provider existing and the key endpoint",
                *key,
            )
        if store.is_hbase:
            if study.provider == "existing" and store != Store():
                raise FaultyKeyError(
                    "the durability of a given cluster is what its administrators set", *key
                )
            continue
        facts = store.facts
        if store.durability not in facts.acknowledged:
            other = " or ".join(f"durability: {level}" for level in facts.acknowledged)
            raise FaultyKeyError(
                f"{facts.title} has no durability {store.durability}: {facts.without}; write "
                f"{{name: {store.name}, {other}}}, and compare it with other stores at that level",
                *key,
            )
        if facts.java and study.stack.java not in (None, facts.java):
            raise FaultyKeyError(
                f"{facts.title} runs on Java {facts.java} alone; remove this key", "stack", "java"
            )
        if endpoint is None:
            _check_provider(study, store, key)
        for factor in ("stack", "configuration", "tier"):
            if study.factors.levels(factor):
                raise FaultyKeyError(
                    f"{factor} is of Hadoop and HBase, and not offered beside {facts.title}; compare it in a "
                    "study of HBase alone",
                    *("factors", factor),
                )


def _check_provider(study: StudyKeys, store: Store, key: tuple[str, ...]) -> None:
    """ValueError if the study's provider does not build the store."""
    if study.provider == "existing":
        raise FaultyKeyError(
            f"provider existing measures HBase; for store {store.name}, add the key endpoint",
            *key,
        )
    if not store.facts.embedded:
        return
    if study.provider in ("container", "libvirt"):
        raise FaultyKeyError(
            f"{store.facts.title} runs in the client, whose container or VM has not the disk of the worker; "
            "it needs provider local or physical",
            *key,
        )
    roles = [host.roles for host in study.hosts]
    if any(("client" in one) != ("worker" in one) for one in roles):
        raise FaultyKeyError(
            f"{store.facts.title} runs in the client, on the worker's disk: give the roles client and worker "
            "to one and the same host",
            "hosts",
        )


def _check_endpoint(store: Store, endpoint: EndpointSpec, key: tuple[str, ...]) -> None:
    """ValueError if the store that stands cannot be reached as the study says."""
    if not store.facts.given:
        known = ", ".join(name for name, facts in FACTS.items() if facts.given)
        raise FaultyKeyError(f"existing.endpoint needs one of the stores {known}", *key)
    if store.name == "redis" and len(endpoint.addresses) > 1:
        raise FaultyKeyError(
            "store redis is one server; for a cluster, write store: redis-cluster",
            *("existing", "endpoint", "addresses"),
        )
    is_aerospike = store.name == "aerospike"
    if is_aerospike != bool(endpoint.server_namespace):
        raise FaultyKeyError(
            "server_namespace, a namespace of the servers' configuration, is needed by store aerospike, "
            "and taken by no other store",
            *("existing", "endpoint", "server_namespace"),
        )
    if is_aerospike and endpoint.ca_file:
        raise FaultyKeyError(
            "the binding of Aerospike has no TLS; measure it where the servers take connections without",
            *("existing", "endpoint", "ca_file"),
        )
