"""What the files and command lines of a cluster that stands were rendered from."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.providers.provider import install_dirs, node_paths, software_of
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.state.timeout_scale import timeout_scale_of


def rendering_of(cluster: Cluster) -> Blueprint:
    """As `bring_up` made it. ValueError of a cluster that others built."""
    topology = cluster.built
    stacks = ensure_stacks(topology.variant.versions, topology.store, software_of(topology))
    return Blueprint(
        topology,
        cluster.site.tag,
        allocate_ports(topology),
        install_dirs(topology, stacks),
        node_paths(cluster.site, topology),
        timeout_scale=timeout_scale_of(cluster.disclosure.get("acceleration", {})),
    )
