"""Rules of the key `store` and of the stores that a study compares."""

from __future__ import annotations

from density_study.cluster.model.store import DEFAULT, Store, default_store, stores
from density_study.cluster.stores.store import cluster_store
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.existing_spec import EndpointSpec
from density_study.workloads.study.factors.store import STORE, StoreSpec
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.providers.registry import nodes_of


def check_stores(study: StudyKeys) -> None:
    """ValueError for the first rule of stores that the study violates."""
    levels = study.factors.of(STORE).values()
    if levels and study.store != StoreSpec():
        raise FaultyKeyError("the stores are those of factors.store; remove this key", "store")
    key = ("factors", "store") if levels else ("store",)
    endpoint = study.existing.endpoint if study.existing else None
    for store in (one.store for one in levels or (study.store,)):
        if endpoint is not None:
            _check_endpoint(store, endpoint, key)
        if not store.built and endpoint is None:
            raise FaultyKeyError(
                f"no package registry has a server of {store.title}, so none can be built; "
                "measure a running one, with provider existing and the key endpoint",
                *key,
            )
        if store.durability not in store.acknowledged:
            other = " or ".join(f"durability: {level}" for level in store.acknowledged)
            raise FaultyKeyError(
                f"{store.title} has no durability {store.durability}: {store.without}; write "
                f"{{name: {store.name}, {other}}}, and compare it with other stores at that level",
                *key,
            )
        if store.java and study.stack.java not in (None, store.java):
            raise FaultyKeyError(
                f"{store.title} runs only on Java {store.java}; remove this key", "stack", "java"
            )
        if endpoint is None:
            _check_provider(study, store, key)
        for factor in ("stack", "configuration", "tier"):
            if factor not in store.offers and study.factors.levels(factor):
                raise FaultyKeyError(
                    f"{factor} is of Hadoop and HBase, and not offered beside {store.title}; compare it in a "
                    "study of HBase only",
                    *("factors", factor),
                )


def _check_provider(study: StudyKeys, store: Store, key: tuple[str, ...]) -> None:
    """ValueError if the study's provider does not build the store."""
    if study.existing is not None and store.name != DEFAULT:
        raise FaultyKeyError(
            f"provider existing measures {default_store().title}; for store {store.name}, add the key "
            "endpoint",
            *key,
        )
    if study.existing is not None and store != default_store():
        raise FaultyKeyError(
            "the durability of an existing cluster is what its administrators set", *key
        )
    if not store.embedded:
        return
    if nodes_of(study).bare:
        raise FaultyKeyError(
            f"{store.title} runs in the client, whose container or VM has not the disk of the worker; "
            "it needs provider local or physical",
            *key,
        )
    roles = [host.roles for host in study.hosts]
    if any(("client" in one) != ("worker" in one) for one in roles):
        raise FaultyKeyError(
            f"{store.title} runs in the client, on the worker's disk: give the roles client and worker "
            "to the same host",
            "hosts",
        )


def _check_endpoint(store: Store, endpoint: EndpointSpec, key: tuple[str, ...]) -> None:
    """ValueError if the store that stands cannot be reached as the study says."""
    if not store.existing:
        known = ", ".join(name for name, kind in stores().items() if kind.existing)
        raise FaultyKeyError(f"existing.endpoint needs one of the stores {known}", *key)
    why, faulty = cluster_store(store).endpoint_fault(endpoint.endpoint)
    if why:
        raise FaultyKeyError(why, "existing", "endpoint", faulty)
