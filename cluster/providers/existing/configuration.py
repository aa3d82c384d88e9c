"""What the client configuration of a cluster says, and what the cluster's web servers answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.secrets import is_secret, without_logins
from density_study.cluster.providers.existing.owner import check_owner
from density_study.cluster.providers.existing.site_file import (
    check_whole,
    properties_of,
)
from density_study.cluster.providers.existing.web import beans, get_json
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.state import atomic

NEEDED = ("core-site", "hbase-site")
"""Of SITES, those without which no client finds the cluster. Of the others, Hadoop has defaults."""
NAMENODE_PORTS, RESOURCEMANAGER_PORTS = (9870, 9871), (8088, 8090)
"""Hadoop's defaults for HTTP and HTTPS."""
_VARIABLE = re.compile(r"\$\{([^${}\s]{1,200})\}")
_EXPANSIONS = 20
"""Of one value, one variable at a time: as many as Hadoop's own Configuration makes."""
_MAX_VALUE = 64 * 1024
"""Characters that a value may grow to."""
_ADDRESS = re.compile(r".*(address|hostname|quorum|defaultFS)(\.[\w.-]+)?")
_LOGIN = re.compile(r":(?!//)[^\s@]{1,1000}@")


@dataclass(frozen=True)
class ClientConfiguration:
    """Properties of all files in `folder`; of the same name, that of the later file in SITES counts."""

    folder: Path
    properties: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """The property with its variables expanded, as far as the limits allow; or `default`."""
        value, at = self.properties.get(name, default), 0
        for _ in range(_EXPANSIONS):
            while (found := _VARIABLE.search(value, at)) and found[1] not in self.properties:
                at = found.end()  # a property or the environment of a client's JVM
            if found is None:
                break
            inner = self.properties[found[1]]
            if len(value) + len(inner) > _MAX_VALUE:
                break
            value, at = value[: found.start()] + inner + value[found.end() :], 0
        return value

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
            raise self._wrong("fs.defaultFS", "core-site", "name an HDFS, as in hdfs://host:8020.")
        tls = self._has_tls("dfs")
        scheme, kind = ("https://", "https") if tls else ("", "http")
        name = service.netloc
        if members := _words(self.get(f"dfs.ha.namenodes.{name}")):
            keys = [f"dfs.namenode.{kind}-address.{name}.{member}" for member in members]
            addresses = [self.get(key) for key in keys]
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
            address = self.get(f"yarn.resourcemanager.webapp{kind}.address{suffix}")
            host = self.get(f"yarn.resourcemanager.hostname{suffix}")
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
    properties: dict[str, str] = {}
    check_owner(folder)
    for site in SITES:
        path = folder / f"{site}.xml"
        if path.is_file():
            check_owner(path)
            check_whole(path)
            properties |= properties_of(path)
        elif site in NEEDED:
            raise InputError(
                f"the client configuration lacks {site}.xml.",
                str(folder),
                "name the folder with the XML files that the cluster's administrators hand to clients.",
            )
    found = ClientConfiguration(folder, properties)
    for name in filter(_ADDRESS.fullmatch, properties):
        if _LOGIN.search(found.get(name)):  # it would be in records and messages
            raise InputError(
                f"{name} has a password before the host's name.",
                str(folder),
                "remove it: clients log in by Kerberos.",
            )
    return found


def copy_configuration(folder: Path, to: Path) -> None:
    """Write what clients read of each file anew, for this user alone: properties without secrets, and nothing
    else. Comments are left out, because people keep old passwords there."""
    to.mkdir(parents=True, exist_ok=True, mode=0o700)
    to.chmod(0o700)
    for path in (folder / f"{site}.xml" for site in SITES):
        if path.is_file():
            kept = {
                name: value for name, value in properties_of(path) if not is_secret(name, value)
            }
            atomic.write_text(to / path.name, configuration_xml(kept), mode=0o600)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


@dataclass(frozen=True)
class Answers:
    """What the active NameNode and ResourceManager answer.

    `namenode`, `resourcemanager`: host:port of their web servers. `hadoop`: HDFS's version, as on Maven
    Central. `free_mib`: what HDFS has left, replicas included. `workers`: addresses of DataNodes, names of
    NodeManagers' hosts.
    """

    namenode: str
    resourcemanager: str
    hadoop: str
    datanodes: int
    free_mib: int
    workers: tuple[str, ...]


def ask(configuration: ClientConfiguration, access: Access = OPEN) -> Answers:
    """StudyError if no NameNode or no ResourceManager is active."""
    namenodes, managers = configuration.namenodes_http(), configuration.resourcemanagers_http()
    namenode = _active(namenodes, "NameNode", _is_active_namenode, access)
    manager = _active(managers, "ResourceManager", _is_active_manager, access)
    (facts,) = beans(namenode, "Hadoop:service=NameNode,name=NameNodeInfo", access)
    (system,) = beans(namenode, "Hadoop:service=NameNode,name=FSNamesystem", access)
    datanodes = json.loads(facts["LiveNodes"]).values()
    listed = get_json(manager, "/ws/v1/cluster/nodes", access=access)["nodes"] or {}
    nodes = listed.get("node", [])
    if facts["Safemode"]:
        raise StudyError(
            "HDFS is in safe mode.", namenode, "wait until it has left it, or ask why."
        )
    return Answers(
        namenode=namenode,
        resourcemanager=manager,
        hadoop=re.split(r"[,\s]", facts["SoftwareVersion"])[0],
        datanodes=len(datanodes),
        free_mib=int(system["CapacityRemaining"]) // 2**20,
        workers=(
            *(one["xferaddr"].rpartition(":")[0] for one in datanodes),
            *(one["nodeHostName"] for one in nodes if one["state"] == "RUNNING"),
        ),
    )


def require_queue(manager: str, queue: str, access: Access = OPEN) -> None:
    """StudyError unless YARN has the queue, and it accepts jobs."""
    scheduler = get_json(manager, "/ws/v1/cluster/scheduler", access=access)
    found = dict(_queues(scheduler["scheduler"]["schedulerInfo"]))
    last = {name.rpartition(".")[2]: state for name, state in found.items()}
    state = found.get(queue, last.get(queue))
    if state is None:
        raise StudyError(
            f"YARN has no queue {queue!r}.",
            manager,
            f"set existing.queue to one of: {', '.join(sorted(last))}.",
        )
    if state != "RUNNING":
        raise StudyError(
            f"YARN's queue {queue!r} is {state}.", manager, "have it started, or name another."
        )


def _queues(node: Any) -> Iterator[tuple[str, str]]:
    """(name, state) of every queue, of the capacity scheduler and of the fair scheduler."""
    if isinstance(node, dict):
        if "queueName" in node:
            name = str(node["queueName"])
            yield str(node.get("queuePath", name)), str(node.get("state", "RUNNING"))
        for value in node.values():
            yield from _queues(value)
    elif isinstance(node, list):
        for value in node:
            yield from _queues(value)


def _is_active_namenode(address: str, access: Access) -> bool:
    (status,) = beans(address, "Hadoop:service=NameNode,name=NameNodeStatus", access)
    return bool(status["State"] == "active")


def _is_active_manager(address: str, access: Access) -> bool:
    info = get_json(address, "/ws/v1/cluster/info", access=access)["clusterInfo"]
    return bool(info["haState"] == "ACTIVE")


def _active(addresses: Sequence[str], what: str, test: Any, access: Access) -> str:
    faults = []
    for address in addresses:
        try:
            if test(address, access):
                return address
            faults.append(f"{address} is not active")
        except StudyError as error:
            faults.append(f"{address}: {error.what}")
    raise StudyError(
        f"no {what} is active: {'; '.join(faults)}",
        what,
        "check that the cluster runs and that this machine reaches its web servers.",
    )
