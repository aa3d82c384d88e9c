"""What the client configuration of a cluster says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.secrets import is_secret
from density_study.cluster.providers.existing.properties import VARIABLE, Properties
from density_study.cluster.providers.existing.server_address import ServerAddress, server_address
from density_study.cluster.providers.existing.site_file import Property, entries_of
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.render.settable import present_name
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import check_owner

NEEDED = ("core-site", "hbase-site")
"""The SITES without which no client finds the cluster. Hadoop has defaults for the others."""
NAMENODE_PORTS, RESOURCEMANAGER_PORTS = (9870, 9871), (8088, 8090)
"""Hadoop's defaults for HTTP and HTTPS."""
_RPC_PORT = 8020
_RPC, _HTTP, _HTTPS = (f"dfs.namenode.{kind}-address" for kind in ("rpc", "http", "https"))
_MOUNTING = ("ViewFileSystemOverloadScheme", "ViewDistributedFileSystem")
"""Classes that take hdfs:// for the name of a table of mounts."""
_OTHER_FILE_SYSTEMS = {
    "viewfs": "a table of mounts over several file systems",
    **dict.fromkeys(("ofs", "o3fs"), "Ozone"),
    **dict.fromkeys(("abfs", "abfss", "adl", "wasb", "wasbs"), "a store of Azure"),
    **dict.fromkeys(("s3", "s3a", "s3n"), "an object store with Amazon's protocol"),
    "gs": "a store of Google",
    "oss": "a store of Alibaba",
    "obs": "a store of Huawei",
    "cosn": "a store of Tencent",
    "maprfs": "MapR's file system",
    "file": "a local file system",
}
_SET_BY_JVMS = re.compile(r"(?:user|java|os|file|hadoop|yarn|mapreduce|dfs|fs|io)\..+")
"""System properties, and properties of which Hadoop has a default."""
_OF_JOBS = (
    "mapreduce.application.framework.path",
    "mapreduce.application.classpath",
    "yarn.application.classpath",
    "yarn.app.mapreduce.am.admin-command-opts",
    "yarn.app.mapreduce.am.command-opts",
    "mapreduce.admin.map.child.java.opts",
    "mapreduce.admin.reduce.child.java.opts",
    "mapreduce.admin.user.env",
    "mapreduce.map.java.opts",
    "mapreduce.reduce.java.opts",
    "net.topology.script.file.name",
)
_ADDRESS = re.compile(r".*(address|hostname|quorum|defaultFS)(\.[\w.-]+)?")
_LOGIN = re.compile(r"(?<![^\s@])(?=[^\s@]*@)[^\s@]*?:(?!//)[^\s@]+@")
"""Checks once per word whether an `@` ends it: the time for a word grows with its length only."""


class ClientConfiguration(Properties):
    """Properties of all files in a folder. For equal names, the later file in SITES counts, unless an
    earlier one is final."""

    def check_jobs(self) -> None:
        """InputError if a property that every job reads has a variable that nothing defines: jobs would fail
        later, with a message about the property's form."""
        for name in _OF_JOBS:
            for variable in VARIABLE.findall(self.get(name)):
                if not _SET_BY_JVMS.fullmatch(variable):
                    hdp = " (of HDP: `hdp-select status hadoop-client`)"
                    raise self.undefined(name, variable, hdp)

    @property
    def is_secure(self) -> bool:
        """Whether clients need a Kerberos ticket."""
        return "kerberos" in (
            self.get("hadoop.security.authentication").lower(),
            self.get("hbase.security.authentication").lower(),
        )

    @property
    def has_tls(self) -> bool:
        """Whether a web server speaks only TLS."""
        return self._has_tls("dfs") or self._has_tls("yarn") or self.hbase_scheme != ""

    @property
    def security(self) -> dict[str, str]:
        """What of it costs time, as the client has it."""
        names = ("hadoop.rpc.protection", "dfs.data.transfer.protection", "dfs.encrypt.data.transfer",
                 "hbase.rpc.protection")  # fmt: skip
        set_here = {name: self.get(name) for name in names if self.get(name)}
        return {"authentication": "kerberos", **set_here}

    @property
    def hbase_scheme(self) -> str:
        """What the addresses of HBase's web servers begin with."""
        return "https://" if self.get("hbase.ssl.enabled").lower() == "true" else ""

    def _has_tls(self, service: str) -> bool:
        return self.get(f"{service}.http.policy").upper() == "HTTPS_ONLY"

    def namenode_principal(self) -> str:
        """Kerberos principal of the default file system's NameNode."""
        key = "dfs.namenode.kerberos.principal"
        if not self.get(key):
            raise self.wrong(key, "hdfs-site", "name the NameNode's Kerberos principal.")
        host = urlsplit(f"//{self.namenodes_http()[0].rpartition('/')[2]}").hostname or ""
        return self.get(key).replace("_HOST", host)

    def namenodes_http(self) -> list[str]:
        """Address of the web server of each NameNode of the default file system: host:port, and https://
        before it where it speaks only TLS."""
        name, service = self._default_file_system()
        tls = self._has_tls("dfs")
        scheme, key = ("https://", _HTTPS) if tls else ("", _HTTP)
        members = _words(self.get(f"dfs.ha.namenodes.{name}"))
        if not members:
            suffix = self._suffix_of(service)
            own = self._suffixed(key, suffix)
            return [f"{scheme}{own.http(service.host.lower(), NAMENODE_PORTS[tls])}"]
        found = []
        for member in members:
            rpc = self._address(f"{_RPC}.{name}.{member}", "hdfs-site")
            own = self._suffixed(key, f".{name}.{member}")
            if not (address := own.http(rpc.host, NAMENODE_PORTS[tls])):
                remedy = "name the NameNode's web server."
                raise self.wrong(f"{key}.{name}.{member}", "hdfs-site", remedy)
            found.append(f"{scheme}{address}")
        return found

    def _default_file_system(self) -> tuple[str, ServerAddress]:
        """Name of the default file system, which is an HDFS: that of a nameservice, or a NameNode's host and
        port. InputError if it is none, or if no client finds its NameNode."""
        key = "fs.defaultFS"
        scheme, _, rest = self.expanded(key).partition("://")
        name = rest.partition("/")[0].rpartition("@")[2]
        address = server_address(name)
        if scheme.lower() != "hdfs" or address is None or not address.host:
            other = _OTHER_FILE_SYSTEMS.get(scheme.lower().partition(":")[0])
            why = f"this is {other}, and HDFS is measured: " if other else ""
            raise self.wrong(
                key,
                "core-site",
                f"{why}name an HDFS, as in hdfs://host:8020, in a copy of the configuration.",
            )
        if self.get("fs.hdfs.impl").rpartition(".")[2] in _MOUNTING:
            raise self.wrong(
                "fs.hdfs.impl",
                "core-site",
                "this is a table of mounts over several file systems: name one HDFS in fs.defaultFS, and "
                "remove fs.hdfs.impl, in a copy of the configuration.",
            )
        if address.port and self.get(f"dfs.ha.namenodes.{address.host}"):
            raise self.wrong(
                key,
                "core-site",
                f"{address.host} is a nameservice, which has no port: write hdfs://{address.host}.",
            )
        members = f"dfs.ha.namenodes.{name}"
        if name in _words(self.get("dfs.nameservices")) and not _words(self.get(members)):
            raise self.wrong(
                members,
                "hdfs-site",
                f"name the NameNodes of the nameservice {name}, or the host and port of its only one in "
                f"{key}.",
            )
        return name, address

    def _suffix_of(self, service: ServerAddress) -> str:
        """What ends the names of a NameNode's properties, where a nameservice lists the NameNode at this
        address, and clients name its host."""
        wanted = (service.host.lower(), service.port or _RPC_PORT)
        for name in self.properties:
            if name.startswith(f"{_RPC}."):
                one = server_address(self.get(name))
                if one and (one.host.lower(), one.port or _RPC_PORT) == wanted:
                    return name.removeprefix(_RPC)
        return ""

    def resourcemanagers_http(self) -> list[str]:
        """Address of the web server of each ResourceManager, as of NameNodes."""
        tls = self._has_tls("yarn")
        scheme, kind = ("https://", ".https") if tls else ("", "")
        # more lenient than Hadoop, which wants ha.enabled: who lists a pair has one
        is_ha = self.get("yarn.resourcemanager.ha.enabled").lower() != "false"
        members = _words(self.get("yarn.resourcemanager.ha.rm-ids")) if is_ha else []
        found = []
        for suffix in [f".{member}" for member in members] or [""]:
            own, named, rpc = (
                self._address(f"yarn.resourcemanager.{key}{suffix}", "yarn-site")
                for key in (f"webapp{kind}.address", "hostname", "address")
            )
            address = own.http(named.host or rpc.host, RESOURCEMANAGER_PORTS[tls])
            if not address:
                key = f"yarn.resourcemanager.hostname{suffix}"
                raise self.wrong(key, "yarn-site", "name the ResourceManager's host.")
            found.append(f"{scheme}{address}")
        return found

    def _suffixed(self, key: str, suffix: str) -> ServerAddress:
        """A NameNode's own address, or else that of all, as DFSUtil.getSuffixedConf reads it."""
        own = f"{key}{suffix}"
        return self._address(own if self.get(own) else key, "hdfs-site")

    def _address(self, key: str, site: str) -> ServerAddress:
        """The address in the property `key`; empty if it is missing. InputError for a wrong one."""
        found = server_address(self.expanded(key))
        if found is None:
            raise self.wrong(key, site, "write host:port there, in a copy of the configuration.")
        return found


def read_configuration(folder: Path) -> ClientConfiguration:
    """The configuration in `folder`. InputError if a file is missing or damaged, or is another person's."""
    check_owner(folder)
    for site in SITES:
        path = folder / f"{site}.xml"
        if path.is_file():
            check_owner(path)
        elif site in NEEDED:
            raise InputError(
                f"the client configuration lacks {site}.xml.",
                str(folder),
                "name one folder with the XML files of all clients: copy hbase-site.xml (often in "
                "/etc/hbase/conf) beside the others (often in /etc/hadoop/conf).",
            )
    properties = {present_name(one.name): one.value for _, one in _counting(folder)}
    found = ClientConfiguration(folder, properties)
    for name in filter(_ADDRESS.fullmatch, properties):
        if _LOGIN.search(found.get(name)):  # it would be in records and messages
            raise InputError(
                f"{name} has a password before the host's name.",
                str(folder),
                "remove it: clients log in by Kerberos.",
            )
    return found


def copy_configuration(folder: Path, to: Path, variables: Sequence[tuple[str, str]] = ()) -> None:
    """Write what clients read of each file anew, readable only for this user: properties without secrets,
    `variables`, and nothing else. Comments are left out, because people keep old passwords there."""
    to.mkdir(parents=True, exist_ok=True, mode=0o700)
    to.chmod(0o700)
    kept: dict[str, dict[str, str]] = {
        site: {} for site in SITES if (folder / f"{site}.xml").is_file()
    }
    for site, one in _counting(folder):
        if not is_secret(one.name, one.value):
            kept[site][one.name] = one.value
    if NEEDED[0] in kept:
        kept[NEEDED[0]] |= dict(variables)
    for site, properties in kept.items():
        atomic.write_text(to / f"{site}.xml", configuration_xml(properties), mode=0o600)


def _counting(folder: Path) -> Iterator[tuple[str, Property]]:
    """(site, property) of every file, in order, without those of which an earlier one is final."""
    finals: set[str] = set()
    for site in SITES:
        path = folder / f"{site}.xml"
        for one in entries_of(path) if path.is_file() else ():
            name = present_name(one.name)
            if name not in finals:
                yield site, one
            if one.final:
                finals.add(name)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
