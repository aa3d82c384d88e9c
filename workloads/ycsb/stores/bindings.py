"""`Binding`: how YCSB's clients use the store of a cluster: classes, a class path, and properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.existing.endpoint_tool import endpoint_properties
from density_study.cluster.providers.provider import node_paths, remote_path
from density_study.cluster.stores.store import Where, store_of


@dataclass(frozen=True)
class Binding:
    """`db`: YCSB's DB. `admin`: StoreTool's class, if there is one. `stack`: whose jars they need.
    `properties`: those of the cluster's clients."""

    db: str
    admin: str
    stack: str
    properties: Mapping[str, str]


def binding_of(cluster: Cluster) -> Binding:
    topology = cluster.topology
    store = store_of(topology)
    if topology.existing is not None and topology.existing.endpoint is not None:
        properties: Mapping[str, str] = endpoint_properties(topology)
    else:
        where = Where(
            cluster,
            data=lambda: node_paths(cluster.site, topology).data,
            remote=partial(remote_path, topology),
        )
        properties = store.client_properties(where)
    return Binding(store.db, store.admin, store.client_stacks[-1], properties)
