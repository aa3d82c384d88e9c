"""What the client configuration of a cluster says, and what the cluster's web servers answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import requests

from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.errors import InputError, StudyError

NEEDED = ("core-site", "hbase-site")
"""Of SITES, those without which no client finds the cluster. Of the others, Hadoop has defaults."""
TIMEOUT_S = 10.0
NAMENODE_HTTP, RESOURCEMANAGER_HTTP = 9870, 8088  # Hadoop's defaults
_VARIABLE = re.compile(r"\$\{([^${}\s]+)\}")
_EXPANSIONS = 20  # as deep as Hadoop's own Configuration expands


@dataclass(frozen=True)
class ClientConfiguration:
    """Properties of all files in `folder`; of the same name, that of the later file in SITES counts."""

    folder: Path
    properties: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """The property with its variables expanded, or `default`."""
        value = self.properties.get(name, default)
        for _ in range(_EXPANSIONS):
            expanded = _VARIABLE.sub(lambda found: self._variable(found), value)
            if expanded == value:
                break
            value = expanded
        return value

    def _variable(self, found: re.Match[str]) -> str:
        return self.properties.get(found[1], found[0])

    def namenodes_http(self) -> list[str]:
        """host:port of the web server of each NameNode of the default file system."""
        service = urlsplit(self.get("fs.defaultFS"))
        if service.scheme != "hdfs" or not service.hostname:
            raise self._wrong("fs.defaultFS", "core-site", "name an HDFS, as in hdfs://host:8020.")
        name = service.netloc
        if members := _words(self.get(f"dfs.ha.namenodes.{name}")):
            keys = [f"dfs.namenode.http-address.{name}.{member}" for member in members]
            addresses = [self.get(key) for key in keys]
            if not all(addresses):
                missing = keys[addresses.index("")]
                raise self._wrong(missing, "hdfs-site", "name the NameNode's web server.")
            return addresses
        own = self.get("dfs.namenode.http-address")
        host, _, port = own.rpartition(":")
        if not own or host in ("0.0.0.0", ""):
            return [f"{service.hostname}:{port or NAMENODE_HTTP}"]
        return [own]

    def resourcemanagers_http(self) -> list[str]:
        """host:port of the web server of each ResourceManager."""
        members = _words(self.get("yarn.resourcemanager.ha.rm-ids")) or [""]
        found = []
        for member in members:
            suffix = f".{member}" if member else ""
            address = self.get(f"yarn.resourcemanager.webapp.address{suffix}")
            host = self.get(f"yarn.resourcemanager.hostname{suffix}")
            if not address and not host:
                key = f"yarn.resourcemanager.hostname{suffix}"
                raise self._wrong(key, "yarn-site", "name the ResourceManager's host.")
            found.append(address or f"{host}:{RESOURCEMANAGER_HTTP}")
        return found

    def _wrong(self, key: str, site: str, remedy: str) -> InputError:
        value = self.get(key)
        what = f"{key} is {value!r}." if value else f"{key} is missing."
        return InputError(what, str(self.folder / f"{site}.xml"), remedy)


def read_configuration(folder: Path) -> ClientConfiguration:
    """The configuration in `folder`. InputError if a file is missing or damaged, or if it describes a cluster
    that cannot be used yet."""
    properties: dict[str, str] = {}
    for site in SITES:
        path = folder / f"{site}.xml"
        if path.is_file():
            properties |= _properties(path)
        elif site in NEEDED:
            raise InputError(
                f"the client configuration lacks {site}.xml.",
                str(folder),
                "name the folder with the XML files that the cluster's administrators hand to clients.",
            )
    found = ClientConfiguration(folder, properties)
    for name, unusable in (
        ("hadoop.security.authentication", "kerberos"),
        ("hbase.security.authentication", "kerberos"),
        ("dfs.http.policy", "HTTPS_ONLY"),
        ("yarn.http.policy", "HTTPS_ONLY"),
    ):
        if found.get(name).lower() == unusable.lower():
            raise InputError(
                f"{name} is {unusable}: secure clusters cannot be used yet.",
                str(folder),
                "name the configuration of a cluster without Kerberos and with HTTP.",
            )
    return found


def _properties(path: Path) -> Iterable[tuple[str, str]]:
    try:
        root = ET.parse(path).getroot()
    except (ET.ParseError, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the file cannot be read: {error}.", str(path), "correct it, or ask for it again."
        ) from error
    for entry in root.iter("property"):
        name, value = entry.findtext("name"), entry.findtext("value")
        if name and value is not None:
            yield name.strip(), value.strip()


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


def ask(configuration: ClientConfiguration) -> Answers:
    """StudyError if no NameNode or no ResourceManager is active."""
    namenode = _active(configuration.namenodes_http(), "NameNode", _is_active_namenode)
    manager = _active(configuration.resourcemanagers_http(), "ResourceManager", _is_active_manager)
    (facts,) = beans(namenode, "Hadoop:service=NameNode,name=NameNodeInfo")
    (system,) = beans(namenode, "Hadoop:service=NameNode,name=FSNamesystem")
    datanodes = json.loads(facts["LiveNodes"]).values()
    nodes = (get_json(manager, "/ws/v1/cluster/nodes")["nodes"] or {}).get("node", [])
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


def beans(address: str, query: str) -> list[dict[str, Any]]:
    """The beans of a daemon's /jmx that match `query`. StudyError if it does not answer."""
    found: list[dict[str, Any]] = get_json(address, "/jmx", {"qry": query})["beans"]
    return found


def get_json(address: str, path: str, parameters: Mapping[str, str] | None = None) -> Any:
    """StudyError if the web server does not answer with JSON."""
    try:
        answer = requests.get(f"http://{address}{path}", params=parameters, timeout=TIMEOUT_S)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise StudyError(
            f"no answer to {path}: {error}.",
            address,
            "check the address, and that it can be reached.",
        ) from error


def require_queue(manager: str, queue: str) -> None:
    """StudyError unless YARN has the queue, and it accepts jobs."""
    scheduler = get_json(manager, "/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]
    found = dict(_queues(scheduler))
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


def _is_active_namenode(address: str) -> bool:
    (status,) = beans(address, "Hadoop:service=NameNode,name=NameNodeStatus")
    return bool(status["State"] == "active")


def _is_active_manager(address: str) -> bool:
    return bool(get_json(address, "/ws/v1/cluster/info")["clusterInfo"]["haState"] == "ACTIVE")


def _active(addresses: Sequence[str], what: str, test: Any) -> str:
    faults = []
    for address in addresses:
        try:
            if test(address):
                return address
            faults.append(f"{address} is not active")
        except StudyError as error:
            faults.append(f"{address}: {error.what}")
    raise StudyError(
        f"no {what} is active: {'; '.join(faults)}",
        what,
        "check that the cluster runs and that this machine reaches its web servers.",
    )
