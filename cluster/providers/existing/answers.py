"""Answers of an existing cluster's web servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing.configuration import ClientConfiguration
from density_study.cluster.providers.existing.web import beans, get_json, understood


@dataclass(frozen=True)
class Answers:
    """What the active NameNode and ResourceManager answer.

    `namenode`, `resourcemanager`: host:port of their web servers. `hadoop`: HDFS's version, as on Maven
    Central. `free_mib`: what HDFS has left, replicas included. `workers`: addresses of DataNodes, names of
    NodeManagers' hosts. `pages`: host:port of each DataNode's web server.
    """

    namenode: str
    resourcemanager: str
    hadoop: str
    datanodes: int
    free_mib: int
    workers: tuple[str, ...]
    pages: tuple[str, ...]

    @property
    def hosts(self) -> set[str]:
        """Names or addresses of all hosts of the cluster."""
        pages = (self.namenode, *self.pages)
        return {*self.workers, *(one.rpartition("/")[2].rpartition(":")[0] for one in pages)}


def ask(configuration: ClientConfiguration, access: Access = OPEN) -> Answers:
    """StudyError if no NameNode or no ResourceManager is active, or one answers otherwise."""
    namenodes, managers = configuration.namenodes_http(), configuration.resourcemanagers_http()
    namenode = _active(namenodes, "NameNode", _is_active_namenode, access)
    manager = _active(managers, "ResourceManager", _is_active_manager, access)
    with understood(manager):
        listed = get_json(manager, "/ws/v1/cluster/nodes", access=access)["nodes"] or {}
        nodes = [one for one in listed.get("node", []) if one["state"] == "RUNNING"]
        managed = [one["nodeHostName"] for one in nodes]
    with understood(namenode):
        (facts,) = beans(namenode, "Hadoop:service=NameNode,name=NameNodeInfo", access)
        (system,) = beans(namenode, "Hadoop:service=NameNode,name=FSNamesystem", access)
        live = json.loads(facts["LiveNodes"])
        datanodes = live.values()
        if facts["Safemode"]:
            raise StudyError(
                "HDFS is in safe mode.",
                namenode,
                "wait with `hdfs dfsadmin -safemode wait`; `hdfs dfsadmin -safemode get` shows the state.",
            )
        return Answers(
            namenode=namenode,
            resourcemanager=manager,
            hadoop=re.split(r"[,\s]", facts["SoftwareVersion"])[0],
            datanodes=len(datanodes),
            free_mib=int(system["CapacityRemaining"]) // 2**20,
            workers=(*(one["xferaddr"].rpartition(":")[0] for one in datanodes), *managed),
            pages=tuple(_pages(live, namenode)),
        )


def _pages(live: Mapping[str, Mapping[str, Any]], namenode: str) -> Iterator[str]:
    """By the DataNodes' names, for which the KDC knows them; their addresses stand with the ports."""
    scheme = "https://" if namenode.startswith("https://") else ""
    for name, about in live.items():
        address = str(about.get("infoSecureAddr" if scheme else "infoAddr", ""))
        if address:
            yield f"{scheme}{name.rpartition(':')[0]}:{address.rpartition(':')[2]}"


def require_queue(manager: str, queue: str, access: Access = OPEN) -> None:
    """StudyError unless YARN has the queue, and it accepts jobs."""
    with understood(manager):
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
            with understood(address):
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
