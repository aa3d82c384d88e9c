"""The key `existing` of a study: a cluster that stands already, and what of it the study may use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from density_study.cluster.model.given import GivenCluster, Kerberos
from density_study.workloads.base.checked import FaultyKeyError, like
from density_study.workloads.base.values import Frozen

CLIENT_HOST = "here"


def _no_other_name(path: str) -> str:
    if {".", ".."} & set(path.split("/")):
        raise ValueError(f"{path} has . or .. in it: write the folder's own name")
    return path


_FilePath = Annotated[str, like(r"[/~][^\n]*", "an absolute path")]


class KerberosSpec(Frozen):
    """Who the study's clients are on a cluster with Kerberos. Without keys: the ticket that `kinit` got."""

    principal: (
        Annotated[str, like(r"[^\s@-][^\s@]*@[^\s@]+", "a principal with its realm")] | None
    ) = Field(None, description="Principal of the keytab, for example `bench@EXAMPLE.ORG`.")
    keytab: _FilePath | None = Field(
        None, description="File with the key of `principal`, which this user may read."
    )
    ticket_cache: _FilePath | None = Field(
        None,
        description="File with a ticket of yours, in place of a keytab. Default: the one that `klist` shows.",
    )
    krb5_conf: _FilePath | None = Field(
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
            _expanded(self.keytab),
            _expanded(self.ticket_cache),
            _expanded(self.krb5_conf),
        )


def _expanded(path: str | None) -> str:
    return str(Path(path).expanduser()) if path else ""


class ExistingSpec(Frozen):
    """A cluster that stands already. The study makes and removes one HDFS folder and one HBase namespace."""

    configuration: _FilePath = Field(
        description="Folder on this machine with the client's `core-site.xml`, `hdfs-site.xml`, "
        "`yarn-site.xml`, `mapred-site.xml` and `hbase-site.xml`."
    )
    folder: Annotated[
        str,
        like(r"/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+", "an absolute path below another folder"),
        AfterValidator(_no_other_name),
    ] = Field(
        description="HDFS folder for the study's files, for example `/user/me/density-study`. It must not "
        "exist; its parent must."
    )
    namespace: Annotated[
        str, like(r"[A-Za-z0-9][A-Za-z0-9_]{0,47}", "a name: letters, digits and underscores")
    ] = Field(
        "density_study", description="HBase namespace for the study's tables. It must not exist."
    )
    queue: Annotated[str, like(r"[A-Za-z0-9._-]{1,100}", "the name of a queue")] = Field(
        "default", description="YARN queue for the study's jobs."
    )
    kerberos: KerberosSpec | None = Field(
        None, description="Login of the clients, on a cluster with Kerberos."
    )
    ca_file: _FilePath | None = Field(
        None,
        description="PEM file with the authorities of the web servers' certificates. Default: the trust "
        "store that `ssl-client.xml` names, or else the authorities of this machine.",
    )

    @property
    def cluster(self) -> GivenCluster:
        return GivenCluster(
            _expanded(self.configuration),
            self.folder,
            self.namespace,
            self.queue,
            self.kerberos.kerberos if self.kerberos else None,
            _expanded(self.ca_file),
        )


def with_client_host(value: Any) -> Any:
    """The keys that other providers need, for a study of an existing cluster: this machine is the client."""
    if not isinstance(value, dict) or value.get("provider") != "existing":
        return value
    for key, why in (
        ("hosts", "the client runs on this machine, and the cluster's hosts are not seen"),
        ("factors", "nothing of the cluster may be changed, so nothing can be compared"),
        ("stack", "the cluster has its own versions and settings"),
        ("vms", "nothing is built"),
        ("ssh", "the cluster's hosts are not seen"),
    ):
        if key in value:
            raise FaultyKeyError(f"provider existing takes no key {key}: {why}", key)
    client = {"name": CLIENT_HOST, "memory": "auto", "roles": ["client"], "disks": []}
    return {**value, "hosts": [client], "factors": {"vms_per_host": [0]}}
