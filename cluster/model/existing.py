"""`ExistingCluster`: a running cluster, and the parts of it that a study may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from density_study.cluster.model.configuration import TableAttributes
from density_study.cluster.model.host import DiskType, Host

JOB_TAG = "density-study"
"""The tag of the study's YARN applications, which others lack."""


@dataclass(frozen=True)
class Kerberos:
    """Who the clients are: `principal` with its `keytab`, or else the user's ticket in `ticket_cache`.

    Empty `ticket_cache` and `krb5_conf`: those that Kerberos's own programs use.
    """

    principal: str = ""
    keytab: str = ""
    ticket_cache: str = ""
    krb5_conf: str = ""


@dataclass(frozen=True)
class StoreEndpoint:
    """Where a store of others answers: `addresses`, each host:port. `user` with the password in
    `password_file`; empty: no login. `ca_file`: PEM, with the authorities of the servers' certificates;
    empty: no TLS. For stores with datacenters, the clients' `datacenter` and the `replication` there; of
    those with configured namespaces, the one with the study's sets: `server_namespace`."""

    addresses: tuple[str, ...]
    user: str = ""
    password_file: str = ""
    datacenter: str = ""
    replication: int = 1
    server_namespace: str = ""
    ca_file: str = ""

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(address.rpartition(":")[0] for address in self.addresses))


@dataclass(frozen=True)
class Prometheus:
    """A server that watches the cluster's hosts. `token_file`: with a bearer token; empty: it wants none.
    `ca_file`: PEM, with the authorities of its certificate; empty: those of this machine."""

    url: str
    token_file: str = ""
    ca_file: str = ""


@dataclass(frozen=True)
class Limits:
    """What a study may do to the work of others. `ops_s`: rate of all its clients together. A trial stops
    when a table of others has a p99 above `others_p99_ms`, or HDFS less than `hdfs_free_percent` left. None:
    no limit."""

    ops_s: float | None = None
    others_p99_ms: float | None = None
    hdfs_free_percent: float | None = None


@dataclass(frozen=True)
class ExistingCluster:
    """`configuration`: folder with the client's XML files, as the cluster's administrators hand it out.

    `folder` of HDFS, absolute, and `namespace` of HBase exist only while a build stands. `queue`: of YARN.
    `kerberos`: None for a cluster that believes every user. `ca_file`: PEM; empty: as the configuration
    says. `watched`: hosts of the cluster on which monitors run. `name`: its level, where a study compares
    existing clusters. `endpoint`: that of a store other than HBase, where the study has only a namespace.
    What the study declares about it, or None: `vms_per_host`, `regionservers_per_node`, `disk_type`.
    `variables`: values of variables that the configuration leaves open, by name. `table`: that of the
    study's own tables. `limits`: for the sake of others. `prometheus`: read after each trial; None: it has
    none that may be read. `tarball` and `native`: hashes of its vendor's client, and of that client's native
    libraries; empty: the nearest client of Apache."""

    configuration: str
    folder: str
    namespace: str
    queue: str
    kerberos: Kerberos | None = None
    ca_file: str = ""
    watched: tuple[Host, ...] = ()
    name: str = ""
    endpoint: StoreEndpoint | None = None
    vms_per_host: int | None = None
    regionservers_per_node: int | None = None
    disk_type: DiskType | None = None
    variables: tuple[tuple[str, str], ...] = ()
    table: TableAttributes = field(default_factory=TableAttributes)
    limits: Limits = field(default_factory=Limits)
    prometheus: Prometheus | None = None
    tarball: str = ""
    native: str = ""

    @property
    def benchmarks(self) -> str:
        """Where TestDFSIO has its files."""
        return f"{self.folder}/benchmarks"

    @property
    def history(self) -> str:
        """Where ApplicationMasters leave the histories of their jobs."""
        return f"{self.folder}/history"

    @property
    def staging(self) -> str:
        """Where job clients put what a job needs."""
        return f"{self.folder}/staging"
