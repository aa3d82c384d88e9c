"""Where a build's files are on its nodes. Nodes of a provider without `Paths` see the controller's files."""

from __future__ import annotations

from pathlib import PurePath

from cluster.machine.directories import data_dir
from cluster.model.cluster import Site
from cluster.model.topology import Topology
from cluster.providers.provider import Paths, provider_of
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import InstallDirs, NodePaths


def node_paths(site: Site, topology: Topology) -> NodePaths:
    """Where the nodes' files will be."""
    provider = provider_of(topology.provider)
    if isinstance(provider, Paths):
        return provider.node_paths(site, topology)
    root = site.root.absolute()
    data = {node.name: data_dir(site, node) for node in topology.nodes}
    return NodePaths(conf=root / "conf", logs=root / "logs", data=data)


def install_dirs(topology: Topology, stacks: Stacks) -> InstallDirs:
    """Where Java and the stacks are on every node."""
    provider = provider_of(topology.provider)
    if isinstance(provider, Paths):
        return provider.install_dirs(topology, stacks)
    return stacks.homes


def remote_path(topology: Topology, path: PurePath | str) -> str:
    """The nodes' path of a file of the controller's stacks."""
    provider = provider_of(topology.provider)
    return provider.remote_path(topology, path) if isinstance(provider, Paths) else str(path)
