"""The topology of an existing cluster, and the provider that joins it."""

from __future__ import annotations

from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import client_reserve_mib
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.topology import ExistingTopology, Node
from density_study.cluster.providers.existing.provider import ExistingProvider
from density_study.cluster.providers.provider import provider_named, provider_of


def existing_topology(
    existing: ExistingCluster, client: Host, order: int = 0, store: Store | None = None
) -> ExistingTopology:
    """The topology of a cluster that others run. Its only node here is the client on this machine."""
    store = store or default_store()
    memory_mib = client_reserve_mib(client.memory_mib)
    node = Node("c1", client.name, client.address, ("client",), memory_mib, client.cores)
    levels = {"store": store.level} if existing.endpoint else {}
    if existing.name:
        levels = {"cluster": existing.name}
    return ExistingTopology(
        name="-".join(("existing", *levels.values())),
        provider=provider_named("endpoint" if existing.endpoint else "existing"),
        hosts=(client,),
        nodes=(node,),
        existing=existing,
        store=store,
        levels=levels,
        order=order,
    )


def existing_provider(topology: ExistingTopology) -> ExistingProvider:
    provider = provider_of(topology)
    assert isinstance(provider, ExistingProvider)
    return provider
