"""The key `existing` of a study: a running cluster, and what the study may use of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from density_study.cluster.model.existing import (
    ExistingCluster,
    Kerberos,
    Prometheus,
    StoreEndpoint,
)
from density_study.cluster.model.host import Host
from density_study.cluster.model.store import stores
from density_study.cluster.state.settings import expanded
from density_study.workloads.base.checked import FaultyKeyError, Name, PlainPath, like
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.stack import BroughtHash
from density_study.workloads.study.factors.table import TableSpec
from density_study.workloads.study.limits_spec import LimitsSpec


def _no_other_name(path: str) -> str:
    if {".", ".."} & set(path.split("/")):
        raise ValueError(f"{path} has . or .. in it: write the folder's own name")
    return path


class KerberosSpec(Frozen):
    """Who the study's clients are on a cluster with Kerberos. Without keys: the ticket that `kinit` got."""

    principal: (
        Annotated[str, like(r"[^\s@-][^\s@]{0,255}@[^\s@]{1,255}", "a principal with its realm")]
        | None
    ) = Field(None, description="Principal of the keytab, for example `bench@EXAMPLE.ORG`.")
    keytab: PlainPath | None = Field(
        None, description="File with the key of `principal`, which this user may read."
    )
    ticket_cache: PlainPath | None = Field(
        None,
        description="File with a ticket of yours, in place of a keytab. Default: the one that `klist` shows.",
    )
    krb5_conf: PlainPath | None = Field(
        None,
        description="Kerberos configuration. Default: `$KRB5_CONFIG`, or else `/etc/krb5.conf`.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> KerberosSpec:
        if (self.principal is None) != (self.keytab is None):
            raise ValueError("principal and keytab belong together: write both, or none")
        if self.keytab is not None and self.ticket_cache is not None:
            raise ValueError("write a keytab or a ticket_cache, not both")
        return self

    @property
    def kerberos(self) -> Kerberos:
        return Kerberos(
            self.principal or "",
            _expanded(self.keytab, "kerberos.keytab"),
            _expanded(self.ticket_cache, "kerberos.ticket_cache"),
            _expanded(self.krb5_conf, "kerberos.krb5_conf"),
        )


def _expanded(path: str | None, key: str) -> str:
    return str(expanded(path, f"key {key}")) if path else ""


Folder = Annotated[
    str,
    like(r"/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+", "an absolute path below another folder"),
    AfterValidator(_no_other_name),
]
Namespace = Annotated[
    str, like(r"[A-Za-z0-9][A-Za-z0-9_]{0,47}", "a name: letters, digits and underscores")
]
VariableName = Annotated[
    str,
    like(
        r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z0-9_-]+){1,5}", "the name of a variable, like hdp.version"
    ),
]
VariableValue = Annotated[str, like(r"[A-Za-z0-9._/-]{1,200}", "a plain word")]
Queue = Annotated[str, like(r"[A-Za-z0-9._-]{1,100}", "the name of a queue")]


_ENDPOINTS = ", ".join(store.title for store in stores().values() if store.existing)


class EndpointSpec(Frozen):
    """A store that others run; the key `store` says which."""

    addresses: tuple[
        Annotated[
            str, like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}:[0-9]{1,5}", "an address, HOST:PORT")
        ],
        ...,
    ] = Field(
        min_length=1,
        max_length=64,
        description="Where the store answers, each `HOST:PORT`: the only server, or some nodes of a "
        "cluster, which name the others.",
    )
    user: Annotated[str, like(r"[^\s,=]{1,100}", "a user's name")] | None = Field(
        None,
        description="Login. Without it, the password is that of the default user, if there is one.",
    )
    password_file: PlainPath | None = Field(
        None,
        description="File with the password, which this user may read. It is not copied into the run.",
    )
    ca_file: PlainPath | None = Field(
        None,
        description="PEM file with the authorities of the servers' certificates: clients then use TLS, and "
        "check names. Default: no TLS.",
    )
    datacenter: Annotated[str, like(r"[A-Za-z0-9._-]{1,100}", "a name")] = Field(
        "datacenter1",
        description="Datacenter of the clients and of the rows, for stores that have them.",
    )
    replication: Annotated[int, Field(strict=True, ge=1, le=10)] = Field(
        1, description="Replicas of each row in that datacenter."
    )
    server_namespace: (
        Annotated[str, like(r"[A-Za-z0-9_$-]{1,31}", "the name of a namespace")] | None
    ) = Field(
        None,
        description="The namespace of the servers' configuration that gets the study's sets, of a store that "
        "has such namespaces.",
    )

    @model_validator(mode="after")
    def _login(self) -> EndpointSpec:
        if self.user is not None and self.password_file is None:
            raise ValueError("user needs password_file: the file with the password")
        return self

    @property
    def endpoint(self) -> StoreEndpoint:
        return StoreEndpoint(
            self.addresses,
            self.user or "",
            _expanded(self.password_file, "endpoint.password_file"),
            self.datacenter,
            self.replication,
            self.server_namespace or "",
            _expanded(self.ca_file, "endpoint.ca_file"),
        )


class PrometheusSpec(Frozen):
    """A Prometheus server that watches the cluster. What its node_exporters and jmx_exporters counted is read
    after each trial, and explains slow seconds and slow trials."""

    url: Annotated[
        str,
        like(
            r"https?://[A-Za-z0-9][A-Za-z0-9._-]{0,252}(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)*/?",
            "the address of a server, like https://prometheus.example.org:9090",
        ),
    ] = Field(description="Its address, for example `https://prometheus.example.org:9090`.")
    token_file: PlainPath | None = Field(
        None,
        description="File with a bearer token, which this user may read. It is not copied into the run.",
    )
    ca_file: PlainPath | None = Field(
        None,
        description="PEM file with the authorities of its certificate. Default: those of this machine.",
    )

    @model_validator(mode="after")
    def _no_token_in_the_clear(self) -> PrometheusSpec:
        host = self.url.partition("://")[2].partition("/")[0].partition(":")[0]
        is_local = host == "localhost" or host.startswith("127.")
        if self.token_file is not None and self.url.startswith("http://") and not is_local:
            raise FaultyKeyError("the token would be sent in the clear; write https://", "url")
        return self

    @property
    def prometheus(self) -> Prometheus:
        return Prometheus(
            self.url,
            _expanded(self.token_file, "prometheus.token_file"),
            _expanded(self.ca_file, "prometheus.ca_file"),
        )


class ExistingSpec(Frozen):
    """A cluster that others run. The study makes and removes one HDFS folder and one HBase namespace, or
    one namespace of another store."""

    configuration: PlainPath | None = Field(
        None,
        description="Folder on this machine with the client's `core-site.xml`, `hdfs-site.xml`, "
        "`yarn-site.xml`, `mapred-site.xml` and `hbase-site.xml`. With `factors.cluster`, each cluster has "
        "its own.",
    )
    endpoint: EndpointSpec | None = Field(
        None,
        description=f"An existing store ({_ENDPOINTS}), in place of Hadoop and HBase: only `namespace`, "
        "`limits` and `prometheus` are taken beside it.",
    )
    folder: Folder | None = Field(
        None,
        description="HDFS folder for the study's files, for example `/user/me/density-study`. It must not "
        "exist; its parent must. Needed unless there is an `endpoint`.",
    )
    namespace: Namespace = Field(
        "density_study",
        description="HBase namespace for the study's tables; of an `endpoint`, the prefix of keys, the "
        "keyspace, or the beginning of the sets' names. It must not exist.",
    )
    queue: Queue = Field("default", description="YARN queue for the study's jobs.")
    kerberos: KerberosSpec | None = Field(
        None, description="Login of the clients, on a cluster with Kerberos."
    )
    ca_file: PlainPath | None = Field(
        None,
        description="PEM file with the authorities of the web servers' certificates. Default: the trust "
        "store that `ssl-client.xml` names, or else the authorities of this machine.",
    )

    variables: dict[VariableName, VariableValue] = Field(
        {},
        max_length=20,
        description="Values of variables that the client configuration uses and leaves open, for example "
        "`{hdp.version: 3.1.4.0-315}`: the cluster's own hosts set them elsewhere.",
    )

    tarball: BroughtHash | None = Field(
        None,
        description="Hash of the vendor's client of Hadoop, as `study stack add hadoop "
        "/opt/cloudera/parcels/CDH` prints it. Default: the nearest version of Apache.",
    )
    native: BroughtHash | None = Field(
        None, description="Hash of its native libraries, printed by the same command."
    )

    table: TableSpec = Field(
        TableSpec(),
        description="Attributes of the study's tables, as the cluster's own tables have them.",
    )

    limits: LimitsSpec = Field(
        LimitsSpec(), description="What the study may do to the work of others."
    )

    prometheus: PrometheusSpec | None = Field(
        None, description="A Prometheus server that watches the cluster."
    )

    @model_validator(mode="after")
    def _hadoop_or_endpoint(self) -> ExistingSpec:
        if self.endpoint is None and self.folder is None:
            raise FaultyKeyError("key existing needs folder, or an endpoint", "folder")
        other = self.model_fields_set - {"endpoint", "namespace", "limits", "prometheus"}
        if self.endpoint is not None and other:
            raise FaultyKeyError(
                f"an endpoint takes namespace, limits and prometheus beside it, not {min(other)}",
                min(other),
            )
        return self

    @property
    def cluster(self) -> ExistingCluster:
        return ExistingCluster(
            _expanded(self.configuration, "configuration"),
            self.folder or "",
            self.namespace,
            self.queue,
            kerberos=self.kerberos.kerberos if self.kerberos else None,
            ca_file=_expanded(self.ca_file, "ca_file"),
            endpoint=self.endpoint.endpoint if self.endpoint else None,
            variables=tuple(sorted(self.variables.items())),
            table=self.table.attributes,
            limits=self.limits.limits,
            prometheus=self.prometheus.prometheus if self.prometheus else None,
            tarball=self.tarball or "",
            native=self.native or "",
        )


class ClusterSpec(Frozen):
    """An existing cluster that is compared with others. Missing keys are as in `existing`. Density and
    disk type are declared: nobody can see them."""

    configuration: PlainPath = Field(
        description="Folder with the client's configuration, as in `existing`."
    )
    folder: Folder | None = Field(None, description="HDFS folder for the study's files.")
    namespace: Namespace | None = Field(None, description="HBase namespace.")
    queue: Queue | None = Field(None, description="YARN queue.")
    kerberos: KerberosSpec | None = Field(None, description="Login, on a cluster with Kerberos.")
    ca_file: PlainPath | None = Field(None, description="PEM file with authorities.")
    tarball: BroughtHash | None = Field(None, description="Hash of its vendor's client of Hadoop.")
    native: BroughtHash | None = Field(None, description="Hash of that client's native libraries.")
    prometheus: PrometheusSpec | None = Field(None, description="Its Prometheus server.")
    hosts: tuple[Name, ...] = Field(
        (), description="Names of those `hosts` that are of this cluster. They are watched."
    )
    vms_per_host: Annotated[int, Field(strict=True, ge=0, le=64)] | None = Field(
        None,
        description="Its density; 0: bare hosts. Default: unknown, and no claim about density.",
    )
    regionservers_per_node: Annotated[int, Field(strict=True, ge=1, le=64)] | None = Field(
        None, description="RegionServers on each of its nodes. Default: unknown."
    )
    disk_type: Literal["flash", "hdd"] | None = Field(
        None, description="Type of its disks. Default: unknown, and no claim about disk types."
    )


def existing_clusters(
    existing: ExistingSpec, compared: Mapping[str, ClusterSpec] | None, hosts: Sequence[Host]
) -> tuple[ExistingCluster, ...]:
    """The one cluster of a study, or those it compares. `hosts`: all that are watched."""
    if not compared:
        return (replace(existing.cluster, watched=tuple(hosts)),)
    facts = {"vms_per_host", "regionservers_per_node", "disk_type"}
    own = set(ExistingSpec.model_fields)
    return tuple(
        replace(
            existing.model_copy(
                update={key: value for key, value in spec if key in own and value is not None}
            ).cluster,
            watched=tuple(host for host in hosts if host.name in spec.hosts),
            name=name,
            **spec.model_dump(include=facts),
        )
        for name, spec in compared.items()
    )


def check_existing(
    existing: ExistingSpec, compared: Mapping[str, ClusterSpec] | None, watched: Sequence[str]
) -> None:
    """FaultyKeyError unless each cluster has one configuration, and each watched host one cluster."""
    if existing.endpoint is not None:
        if compared:
            raise FaultyKeyError(
                "clusters of Hadoop and HBase are compared, not endpoints", "factors", "cluster"
            )
        return
    if (existing.configuration is None) != bool(compared):
        message = (
            "each cluster of factors.cluster has its own configuration: remove existing.configuration"
            if compared
            else "key existing needs configuration: the folder with the client's XML files"
        )
        raise FaultyKeyError(message, "existing")
    for name, spec in (compared or {}).items():
        for host in spec.hosts:
            if host not in watched:
                raise FaultyKeyError(
                    f"cluster {name!r} has the host {host!r}, which is not among hosts",
                    *("factors", "cluster", name, "hosts"),
                )
    for index, host in enumerate(watched):
        owners = [name for name, spec in (compared or {}).items() if host in spec.hosts]
        if compared and len(owners) != 1:
            where = " and ".join(owners) or "no cluster"
            raise FaultyKeyError(
                f"host {host!r} is of {where}; name it in hosts of one cluster of factors.cluster",
                *("hosts", index),
            )
