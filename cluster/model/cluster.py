"""`Cluster`: a running topology, and the addresses of its services."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.topology import AnyTopology, Topology
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.model.versions import VERSIONS, Versions


@dataclass(frozen=True)
class Phase:
    """A step of bring-up and how long it took, as recorded in every manifest."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Endpoints:
    """Where the daemons answer. Addresses are host:port, as the client's XML names them; those of web servers
    with TLS begin with https://. Empty without Hadoop. `store`: <node>/<daemon> -> address of the daemons of
    another store."""

    namenode_rpc: str = ""
    namenode_http: str = ""
    resourcemanager_rpc: str = ""
    resourcemanager_http: str = ""
    zookeeper: str = ""
    hmaster_http: str = ""
    regionserver_http: dict[str, str] = field(default_factory=dict)
    access: Access = OPEN
    daemon_http: dict[str, str] = field(default_factory=dict)
    """The /jmx pages of HDFS and HBase, by <node>/<daemon>. Empty: the cluster is not the study's own."""
    store: dict[str, str] = field(default_factory=dict)
    network: str = ""
    """Name of the network in which the addresses are; empty: this machine's own."""


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
    `client_versions`: of YCSB's client of HBase; of a given cluster its own, if known.
    """

    site: Site
    topology: AnyTopology
    endpoints: Endpoints
    phases: tuple[Phase, ...]
    processes: tuple[ProcessId, ...]
    hadoop_home: Path
    java_home: Path
    client_java_home: Path
    client_conf: Path
    disclosure: dict[str, Any]
    client_versions: Versions = VERSIONS

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
    """The cluster saved in the folder of a build. OSError or ValueError if there is none."""
    return _ADAPTER.validate_json((build / CLUSTER).read_bytes())
