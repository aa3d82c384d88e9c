"""`Rendered`: the files and command lines of a build, before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.daemons import Daemon


@dataclass(frozen=True)
class Rendered:
    """`files`: path below the conf folder -> text. `prepare` creates the empty filesystem, once, and
    `initialise` what another store keeps in HDFS, when HDFS is ready; daemons that name one of them in
    `starts_after` wait until it has ended. None: there is none."""

    files: Mapping[str, str]
    prepare: Daemon | None
    daemons: tuple[Daemon, ...]
    endpoints: Endpoints
    initialise: Daemon | None = None


def owner(path: str, topology: Topology) -> Node:
    """The node that gets a file: nodes/<node>/... and clients/<node>/... are that node's, client/... the
    first client's."""
    top, name = PurePath(path).parts[:2]
    if top == "client":
        return topology.client
    return next(node for node in topology.nodes if node.name == name)
