"""Aerospike, only through an endpoint: no package registry has a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from density_study.cluster.model.existing import ExistingCluster, StoreEndpoint
from density_study.cluster.model.store import Durability
from density_study.cluster.stores.store import ClusterStore

_PROMISED: Mapping[str, Durability] = {"false": "memory", "true": "synced"}
"""commit-to-device, with which the servers' configuration takes no disable-odsync."""


class Aerospike(ClusterStore):
    name = "aerospike"
    title = "Aerospike"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "commit-to-device false: in buffers of the master and all replicas before the reply",
        "synced": "commit-to-device true: on devices of the master and all replicas before the reply",
    }
    without = (
        "without commit-to-device, a server keeps acknowledged writes in its own buffers until it "
        "flushes them (flush-max-ms, a second by default)"
    )
    ordered = False
    existing = True
    built = False
    caution = (
        "Aerospike's binding is untried: no server was available, and it ran only against a "
        "server of its protocol that the tests bring"
    )
    db = "org.densitystudy.stores.aerospike.AerospikeRows"
    endpoint_admin = "org.densitystudy.stores.aerospike.AerospikeEndpoint"
    deciding = ("commit-to-device",)
    room = "its limits of used storage"

    def endpoint_fault(self, endpoint: StoreEndpoint) -> tuple[str, str]:
        if endpoint.ca_file:
            return (
                "the binding of Aerospike has no TLS; measure it where the servers take connections without",
                "ca_file",
            )
        if not endpoint.server_namespace:
            return (
                "store aerospike needs server_namespace, a namespace of the servers' configuration",
                "server_namespace",
            )
        return "", ""

    def endpoint_properties(
        self, existing: ExistingCluster, endpoint: StoreEndpoint
    ) -> dict[str, str]:
        return {
            "aerospike.hosts": ",".join(endpoint.addresses),
            "aerospike.namespace": endpoint.server_namespace,
            "aerospike.set": existing.namespace,
        }

    def promised(self, facts: Mapping[str, Any]) -> Durability | None:
        return _PROMISED.get(facts["commit-to-device"])


STORES = (Aerospike,)
