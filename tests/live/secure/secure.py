"""A cluster of others with Kerberos: SASL data transfer, SPNEGO and TLS on every web server.

Its realm is that of a `Kdc`. Its clients' principal has the name of the tests' user: containers of YARN run
as this user, and MapReduce compares owners.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.model.access import Access
from density_study.cluster.providers.existing.web import session_of
from density_study.cluster.stack import find_java
from tests.live.secure.kdc import REALM, Kdc, kdc
from tests.live.secure.native_hadoop import native_library
from tests.live.support.foreign import OWNER, USER, ForeignCluster, running

HOST = "localhost"
CLIENT = f"{USER}@{REALM}"
SERVICES = ("hdfs", "yarn", "hbase", "HTTP")


class SecureCluster(ForeignCluster):
    """`keytab`: of CLIENT. `secrets`: what must be nowhere but here, by name."""

    web, hbase_user = "https://", "hbase"

    def __init__(self, root: Path, realm: Kdc) -> None:
        self.realm, self.kerberos = realm, root / "kerberos"
        self.kerberos.mkdir(parents=True)
        self.keytabs = {s: realm.keytab(s, [f"{s}/{HOST}@{REALM}"]) for s in SERVICES}
        self.keytab = realm.keytab("client", [CLIENT])
        realm.add(f"{OWNER}@{REALM}")
        self.passwords = {
            name: secrets.token_hex(12) for name in ("key-store", "trust-store", "signature")
        }
        self._certificates()
        self._krb5 = f"-Djava.security.krb5.conf={realm.krb5_conf}"
        cache = root / "admin.krb5cc"
        self.realm.kinit(f"{OWNER}@{REALM}", cache)
        self.access = Access(str(cache), str(realm.krb5_conf), str(self.kerberos / "ca.pem"))
        self._native = native_library(root / "native")
        self.session = session_of(self.access)
        super().__init__(root, HOST)

    def administrator(self) -> dict[str, str]:
        return {}

    def admin_env(self) -> dict[str, str]:
        return {**os.environ, **self.access.env}

    def _env(self) -> dict[str, str]:
        home = {"HOME": str(self.root), "JAVA_HOME": str(self.java.home)}
        return {"PATH": "/usr/bin:/bin", **home}

    def _flags(self, main: str) -> tuple[str, ...]:
        serves_shuffle = main.endswith(".NodeManager")
        native = (f"-Djava.library.path={self._native}",) if serves_shuffle else ()
        return (self._krb5, f"-Ddensitystudy.ca={self.access.ca_file}", *native)

    def _certificates(self) -> None:
        folder, keytool = self.kerberos, find_java().command.with_name("keytool")

        def run(*words: str) -> None:
            env = {"K": self.passwords["key-store"], "T": self.passwords["trust-store"]}
            subprocess.run([keytool, *words], env=env, check=True, capture_output=True)

        keys = ("-keystore", f"{folder}/keys.p12", "-storepass:env", "K", "-alias", "own")
        trust = ("-keystore", f"{folder}/trust.p12", "-storepass:env", "T", "-alias", "own")
        run("-genkeypair", *keys, "-keyalg", "RSA", "-validity", "2", "-dname", f"CN={HOST}",
            "-ext", f"san=dns:{HOST},ip:127.0.0.1", "-ext", "bc=ca:true")  # fmt: skip
        run("-exportcert", "-rfc", *keys, "-file", f"{folder}/ca.pem")
        run("-importcert", "-noprompt", *trust, "-file", f"{folder}/ca.pem")
        (folder / "signature").write_text(self.passwords["signature"])

    def _sites(self) -> dict[str, dict[str, str]]:
        store, keytabs, passwords = self.kerberos, self.keytabs, self.passwords
        server = {
            "ssl.server.keystore.location": f"{store}/keys.p12",
            "ssl.server.keystore.type": "pkcs12",
            "ssl.server.keystore.password": passwords["key-store"],
            "ssl.server.keystore.keypassword": passwords["key-store"],
        }

        def login(service: str, principal: str, keytab: str) -> dict[str, str]:
            return {principal: f"{service}/{HOST}@{REALM}", keytab: str(keytabs[service])}

        more = {
            "core-site": {
                "hadoop.security.authentication": "kerberos",
                "hadoop.security.authorization": "true",
                "hadoop.rpc.protection": "privacy",
                "hadoop.http.filter.initializers":
                    "org.apache.hadoop.security.AuthenticationFilterInitializer",
                "hadoop.http.authentication.type": "kerberos",
                "hadoop.http.authentication.signature.secret.file": f"{store}/signature",
                **login("HTTP", "hadoop.http.authentication.kerberos.principal",
                        "hadoop.http.authentication.kerberos.keytab"),
            },
            "hdfs-site": {
                "dfs.block.access.token.enable": "true",
                "dfs.data.transfer.protection": "integrity",
                "dfs.http.policy": "HTTPS_ONLY",
                "dfs.namenode.https-address": self.namenode,
                "dfs.datanode.https.address": self._address(),
                "dfs.datanode.hostname": HOST,
                **login("hdfs", "dfs.namenode.kerberos.principal", "dfs.namenode.keytab.file"),
                **login("hdfs", "dfs.datanode.kerberos.principal", "dfs.datanode.keytab.file"),
                **login("HTTP", "dfs.web.authentication.kerberos.principal",
                        "dfs.web.authentication.kerberos.keytab"),
            },
            "yarn-site": {
                "yarn.http.policy": "HTTPS_ONLY",
                "yarn.resourcemanager.webapp.https.address": self.manager,
                "yarn.nodemanager.webapp.https.address": self._address(),
                **login("yarn", "yarn.resourcemanager.principal", "yarn.resourcemanager.keytab"),
                **login("yarn", "yarn.nodemanager.principal", "yarn.nodemanager.keytab"),
                **login("HTTP", "yarn.resourcemanager.webapp.spnego-principal",
                        "yarn.resourcemanager.webapp.spnego-keytab-file"),
                **login("HTTP", "yarn.nodemanager.webapp.spnego-principal",
                        "yarn.nodemanager.webapp.spnego-keytab-file"),
            },
            "mapred-site": {"mapreduce.jobhistory.address": ""},  # else the client asks it for a token
            "hbase-site": {
                "hbase.security.authentication": "kerberos",
                "hbase.rpc.protection": "privacy",
                "hbase.coprocessor.region.classes":
                    "org.apache.hadoop.hbase.security.token.TokenProvider",
                "hbase.ssl.enabled": "true",
                "hbase.security.authentication.ui": "kerberos",
                **login("hbase", "hbase.master.kerberos.principal", "hbase.master.keytab.file"),
                **login("hbase", "hbase.regionserver.kerberos.principal",
                        "hbase.regionserver.keytab.file"),
                **login("HTTP", "hbase.security.authentication.spnego.kerberos.principal",
                        "hbase.security.authentication.spnego.kerberos.keytab"),
                **server,  # as in practice: HBase's servers read it there, and clients get the file, too
            },
            "ssl-server": server,
            "ssl-client": {
                "ssl.client.truststore.location": f"{store}/trust.p12",
                "ssl.client.truststore.type": "pkcs12",
                "ssl.client.truststore.password": passwords["trust-store"],
            },
        }  # fmt: skip
        sites = super()._sites()
        opts = self._krb5
        for key in ("yarn.app.mapreduce.am.command-opts", "mapreduce.map.java.opts",
                    "mapreduce.reduce.java.opts"):  # fmt: skip
            sites["mapred-site"][key] += f" {opts}"
        sites["yarn-site"]["yarn.nodemanager.container-localizer.java.opts"] = f"-Xmx256m {opts}"
        for name in ("dfs.namenode.http-address", "dfs.datanode.http.address"):
            del sites["hdfs-site"][name]
        return {site: {**sites.get(site, {}), **more.get(site, {})} for site in {**sites, **more}}


@contextmanager
def secure_cluster(root: Path) -> Iterator[SecureCluster]:
    """A KDC and a cluster that run, with canaries; killed and removed on exit."""
    with kdc(root / "kdc") as realm, running(SecureCluster(root / "cluster", realm)) as cluster:
        yield cluster
