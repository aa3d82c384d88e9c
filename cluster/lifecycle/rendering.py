"""What the files and command lines of a cluster are rendered from, before it is built and while it stands."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster, Site
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import install_dirs, node_paths, software_of
from density_study.cluster.providers.stacks import Stacks, ensure_stacks
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.state.timeout_scale import timeout_scale_of


def blueprint_of(
    site: Site, topology: Topology, stacks: Stacks, timeout_scale: float = 1.0
) -> Blueprint:
    """The blueprint from which `bring_up` renders the cluster at this site."""
    ports = allocate_ports(topology)
    places, homes = node_paths(site, topology), install_dirs(topology, stacks)
    return Blueprint(topology, site.tag, ports, homes, places, timeout_scale=timeout_scale)


def rendering_of(cluster: Cluster) -> Blueprint:
    """The blueprint from which a standing cluster was rendered. ValueError for a cluster that others
    built."""
    topology = cluster.built
    stacks = ensure_stacks(topology.variant.versions, topology.store, software_of(topology))
    scale = timeout_scale_of(cluster.disclosure.get("acceleration", {}))
    return blueprint_of(cluster.site, topology, stacks, scale)
