"""`Cluster`: a running topology, and the addresses of its services."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology, Topology
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.old_names import present


@dataclass(frozen=True)
class Phase:
    """A step of bring-up and how long it took, as recorded in every manifest."""

    name: str
    seconds: float


Kind = Literal[
    "namenode.rpc", "namenode.http", "resourcemanager.rpc", "resourcemanager.http", "zookeeper.client",
    "hmaster.http", "regionserver.http",
    "jmx",  # the pages of HDFS's and HBase's daemons, where they are the study's own
    "others.jmx",  # such pages of an existing cluster, read only by a device
    "store",  # daemons that a store's clients connect to; HBase's find theirs by ZooKeeper
]  # fmt: skip


@dataclass(frozen=True)
class Endpoints:
    """Where the daemons answer: kind of service -> <node>/<daemon> -> address. A cluster has those kinds that
    its store renders.

    Addresses are host:port, as the client's XML names them; those of web servers with TLS begin with https://.
    `network`: the name of the network that they are in; empty: this machine's own.
    """

    services: Mapping[Kind, Mapping[str, str]] = field(default_factory=dict)
    access: Access = OPEN
    network: str = ""

    def all(self, kind: Kind) -> Mapping[str, str]:
        """<node>/<daemon> -> address. Empty if the cluster has none."""
        return self.services.get(kind, {})

    def one(self, kind: Kind) -> str:
        """The address of a service that a cluster has once; empty if it has none."""
        return next(iter(self.all(kind).values()), "")


@dataclass(frozen=True)
class Site:
    """Where one build lives on the controller: `root` is runs/<study>/<run-id>/builds/<build>.

    `tag` is "<study>/<run-id>/<build>": every process carries it in its environment as STUDY_TAG,
    every directory made outside `root` holds it in a file of that name.
    """

    root: Path
    tag: str


@dataclass(frozen=True)
class Cluster:
    """What a trial needs to know of the daemons. Saved as <site.root>/cluster.json.

    `java_home` is of daemons, containers and Hadoop's own clients, `client_java_home` of HBase's clients.
    `client_versions`: of YCSB's client of HBase; of an existing cluster its own, if known.
    """

    site: Site
    topology: AnyTopology
    endpoints: Endpoints
    processes: tuple[ProcessId, ...]
    hadoop_home: Path
    java_home: Path
    client_java_home: Path
    disclosure: dict[str, Any]
    client_versions: Versions = VERSIONS
    phases: tuple[Phase, ...] = ()

    @property
    def built(self) -> Topology:
        """The topology of a cluster that the study built. ValueError of one that others built."""
        if not isinstance(self.topology, Topology):
            raise ValueError(f"{self.topology.name} was not built by a study")
        return self.topology

    @property
    def access(self) -> Access:
        return self.endpoints.access


CLUSTER = "cluster.json"
_ADAPTER: TypeAdapter[Cluster] = TypeAdapter(Cluster)


def cluster_json(cluster: Cluster) -> str:
    return _ADAPTER.dump_json(cluster).decode()


def read_cluster(build: Path) -> Cluster:
    """The cluster saved in the folder of a build. OSError or ValueError if there is none. InputError if an
    earlier version saved it: its endpoints have other names, and none would be found."""
    value = present(json.loads((build / CLUSTER).read_bytes()), Cluster)
    cluster = _ADAPTER.validate_json(json.dumps(value))
    if "services" not in value["endpoints"]:
        raise InputError(
            "another version of the program built this cluster.",
            str(build / CLUSTER),
            "take it down (study down, or study reap), and build it anew.",
        )
    return cluster
