"""What the client configuration of a cluster says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.secrets import is_secret, without_logins
from density_study.cluster.providers.existing.site_file import Property, entries_of
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.render.settable import present_name
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import check_owner

NEEDED = ("core-site", "hbase-site")
"""Of SITES, those without which no client finds the cluster. Of the others, Hadoop has defaults."""
NAMENODE_PORTS, RESOURCEMANAGER_PORTS = (9870, 9871), (8088, 8090)
"""Hadoop's defaults for HTTP and HTTPS."""
_ANY = "0.0.0.0"
_OTHER_FILE_SYSTEMS = {
    "viewfs": "a table of mounts over several file systems",
    **dict.fromkeys(("ofs", "o3fs"), "Ozone"),
    **dict.fromkeys(("abfs", "abfss", "adl", "wasb", "wasbs"), "a store of Azure"),
    **dict.fromkeys(("s3", "s3a", "s3n"), "an object store with Amazon's protocol"),
    "gs": "a store of Google",
    "oss": "a store of Alibaba",
    "maprfs": "MapR's file system",
    "file": "a local file system",
}
_VARIABLE = re.compile(r"\$\{([^${}\s]{1,200})\}")
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
_EXPANSIONS = 20
"""Of one value, one variable at a time: as many as Hadoop's own Configuration makes."""
_MAX_VALUE = 64 * 1024
"""Characters that a value may grow to."""
_ADDRESS = re.compile(r".*(address|hostname|quorum|defaultFS)(\.[\w.-]+)?")
_LOGIN = re.compile(r"(?<![^\s@])(?=[^\s@]*@)[^\s@]*?:(?!//)[^\s@]+@")
"""Whether an `@` ends the word is asked once a word, so that long ones take no longer than they are."""


@dataclass(frozen=True)
class ClientConfiguration:
    """Properties of all files in `folder`, by their present names. Of the same name, that of the later file
    in SITES counts, unless an earlier one is final."""

    folder: Path
    properties: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """The property with its variables expanded, as far as the limits allow; or `default`."""
        value, at = self.properties.get(name, default), 0
        for _ in range(_EXPANSIONS):
            inner = None
            while (found := _VARIABLE.search(value, at)) and (
                inner := self._value_of(found[1])
            ) is None:
                at = found.end()  # a property of a client's JVM
            if found is None or inner is None:
                break
            if len(value) + len(inner) > _MAX_VALUE:
                break
            value, at = value[: found.start()] + inner + value[found.end() :], 0
        return value

    def with_variables(self, values: Sequence[tuple[str, str]]) -> ClientConfiguration:
        """The configuration with values for variables that nothing defines. InputError for any other name: a
        study does not change what the cluster's administrators set."""
        used = {name for value in self.properties.values() for name in _VARIABLE.findall(value)}
        for name, _ in values:
            if name not in used or name in self.properties:
                why = "defines it itself" if name in self.properties else "does not use it"
                raise InputError(
                    f"the client configuration {why}: {name}.",
                    str(self.folder),
                    f"remove {name} from existing.variables.",
                    ("existing", "variables"),
                )
        return replace(self, properties={**self.properties, **dict(values)})

    def check_jobs(self) -> None:
        """InputError if a property that every job reads has a variable that nothing defines: jobs would fail
        later, with a message about the property's form."""
        for name in _OF_JOBS:
            for variable in _VARIABLE.findall(self.get(name)):
                if not _SET_BY_JVMS.fullmatch(variable):
                    raise InputError(
                        f"{name} uses ${{{variable}}}, which nothing defines.",
                        str(self.folder),
                        f"add existing.variables: {{{variable}: ...}} with the value of the cluster's hosts "
                        "(of HDP: `hdp-select status hadoop-client`).",
                        ("existing",),
                    )

    def _value_of(self, variable: str) -> str | None:
        """The value of `${variable}`. Clients run without the environment of the cluster's own hosts, so that
        a default counts: `${env.NAME:-default}`."""
        kind, dot, name = variable.partition(".")
        if dot and kind == "env":
            _, dash, default = name.partition("-")
            if dash:
                return default
        return self.properties.get(variable)

    @property
    def is_secure(self) -> bool:
        """Whether clients need a Kerberos ticket."""
        return "kerberos" in (
            self.get("hadoop.security.authentication").lower(),
            self.get("hbase.security.authentication").lower(),
        )

    @property
    def has_tls(self) -> bool:
        """Whether a web server speaks TLS alone."""
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
            raise self._wrong(key, "hdfs-site", "name the NameNode's Kerberos principal.")
        host = urlsplit(f"//{self.namenodes_http()[0].rpartition('/')[2]}").hostname or ""
        return self.get(key).replace("_HOST", host)

    def namenodes_http(self) -> list[str]:
        """Address of the web server of each NameNode of the default file system: host:port, and https://
        before it where it speaks TLS alone."""
        service = urlsplit(self.get("fs.defaultFS"))
        if service.scheme != "hdfs" or not service.hostname:
            other = _OTHER_FILE_SYSTEMS.get(service.scheme)
            why = f"this is {other}, and HDFS is measured: " if other else ""
            raise self._wrong(
                "fs.defaultFS",
                "core-site",
                f"{why}name an HDFS, as in hdfs://host:8020, in a copy of the configuration.",
            )
        tls = self._has_tls("dfs")
        scheme, kind = ("https://", "https") if tls else ("", "http")
        name = service.netloc
        if members := _words(self.get(f"dfs.ha.namenodes.{name}")):
            keys = [f"dfs.namenode.{kind}-address.{name}.{member}" for member in members]
            rpc = [self.get(f"dfs.namenode.rpc-address.{name}.{member}") for member in members]
            defaults = [one and f"{_host(one)}:{NAMENODE_PORTS[tls]}" for one in rpc]
            addresses = [
                _reachable(self.get(key), _host(own)) or default
                for key, own, default in zip(keys, rpc, defaults, strict=True)
            ]
            if not all(addresses):
                missing = keys[addresses.index("")]
                raise self._wrong(missing, "hdfs-site", "name the NameNode's web server.")
            return [f"{scheme}{address}" for address in addresses]
        own = self.get(f"dfs.namenode.{kind}-address")
        host, _, port = own.rpartition(":")
        if not own or host in ("0.0.0.0", ""):
            return [f"{scheme}{service.hostname}:{port or NAMENODE_PORTS[tls]}"]
        return [f"{scheme}{own}"]

    def resourcemanagers_http(self) -> list[str]:
        """Address of the web server of each ResourceManager, as of NameNodes."""
        tls = self._has_tls("yarn")
        scheme, kind = ("https://", ".https") if tls else ("", "")
        members = _words(self.get("yarn.resourcemanager.ha.rm-ids")) or [""]
        found = []
        for member in members:
            suffix = f".{member}" if member else ""
            rpc = _host(self.get(f"yarn.resourcemanager.address{suffix}"))
            host = _real(self.get(f"yarn.resourcemanager.hostname{suffix}")) or _real(rpc)
            own = self.get(f"yarn.resourcemanager.webapp{kind}.address{suffix}")
            address = _reachable(own, host)
            if not address and not host:
                key = f"yarn.resourcemanager.hostname{suffix}"
                raise self._wrong(key, "yarn-site", "name the ResourceManager's host.")
            found.append(f"{scheme}{address or f'{host}:{RESOURCEMANAGER_PORTS[tls]}'}")
        return found

    def _wrong(self, key: str, site: str, remedy: str) -> InputError:
        value = without_logins(self.get(key))
        what = f"{key} is {value!r}." if value else f"{key} is missing."
        return InputError(what, str(self.folder / f"{site}.xml"), remedy)


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
                "name the folder with the XML files that the cluster's administrators hand to clients.",
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
    """Write what clients read of each file anew, for this user alone: properties without secrets,
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


def _host(address: str) -> str:
    return address.rpartition(":")[0] or address


def _real(host: str) -> str:
    """Empty for an address that a server listens on, and nobody can connect to."""
    return "" if host == _ANY else host


def _reachable(address: str, host: str) -> str:
    """The address of a server, at this host if it listens on all addresses; empty if there is none."""
    listens, colon, port = address.rpartition(":")
    if listens != _ANY:
        return address
    return f"{host}:{port}" if host and colon else ""


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
