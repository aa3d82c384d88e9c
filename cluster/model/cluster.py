"""`Cluster`: a running topology, and the addresses of its services."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cluster.model.topology import Topology
from cluster.model.transport import ProcessId


@dataclass(frozen=True)
class Phase:
    """A step of bring-up and how long it took, as recorded in every manifest."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Endpoints:
    """Where the daemons answer. Addresses are host:port, as the client's XML names them."""

    namenode_rpc: str
    namenode_http: str
    resourcemanager_rpc: str
    resourcemanager_http: str
    zookeeper: str
    hmaster_http: str
    datanode_http: dict[str, str]
    nodemanager_http: dict[str, str]
    regionserver_http: dict[str, str]


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
    """What a trial needs to know of the daemons. Saved as <site.root>/cluster.json."""

    site: Site
    topology: Topology
    endpoints: Endpoints
    phases: tuple[Phase, ...]
    processes: tuple[ProcessId, ...]
    hadoop_home: Path
    hbase_home: Path
    java_home: Path
    client_conf: Path
    disclosure: dict[str, Any]


_ADAPTER: TypeAdapter[Cluster] = TypeAdapter(Cluster)


def cluster_to_json(cluster: Cluster) -> dict[str, Any]:
    value: dict[str, Any] = _ADAPTER.dump_python(cluster, mode="json")
    return value


def cluster_from_json(value: object) -> Cluster:
    return _ADAPTER.validate_python(value)
