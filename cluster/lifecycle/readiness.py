"""Readiness: each check queries the state of a service; an open port alone proves nothing."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from density_study.cluster.machine.other_users.private_network import Connection, connect
from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import StoreName
from density_study.cluster.model.topology import Topology

Fetch = Callable[[str], Any]
REQUEST_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Seen:
    """The answer of a service: whether it is ready, and a description for messages."""

    ready: bool
    state: str


Judge = Callable[[dict[str, Any], int], Seen]


@dataclass(frozen=True)
class Service:
    """`daemon` answers for the service, with its node if several have one; its log is shown when it does
    not."""

    name: str
    daemon: str
    check: Callable[[], Seen]


def services(topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None) -> list[Service]:
    """HDFS, YARN and HBase of a topology, or its other store's daemons, with their checks."""
    if topology.store.name == "kudu":
        page = allocate_ports(topology).address(topology.master, "kudu-master.http")
        return [
            Service(name, name, partial(kudu_answer, fetch or fetch_json, page, address))
            for name, address in endpoints.store.items()
        ]
    answer = _ANSWERS.get(topology.store.name)
    of_store = [
        Service(name, name, partial(answer, address, endpoints.network))
        for name, address in endpoints.store.items()
        if answer is not None
    ]
    if not topology.store.on_hadoop:
        return of_store
    ask, to = fetch or fetch_json, endpoints
    workers, servers = len(topology.workers), len(endpoints.regionserver_http)

    def check(address: str, bean: str, judge: Judge, expected: int) -> Callable[[], Seen]:
        url = f"http://{address}/jmx?qry=Hadoop:service={bean}"
        return lambda: _query(ask, url, judge, expected)

    namenode, manager = "NameNode,name=FSNamesystemState", "ResourceManager,name=ClusterMetrics"
    hdfs = check(to.namenode_http, namenode, hdfs_seen, workers)
    yarn = check(to.resourcemanager_http, manager, yarn_seen, workers)
    hbase = check(to.hmaster_http, "HBase,name=Master,sub=Server", hbase_seen, servers)
    hadoop = [Service("hdfs", "namenode", hdfs), Service("yarn", "resourcemanager", yarn)]
    return [*hadoop, *(of_store or [Service("hbase", "hmaster", hbase)])]


def redis_answer(address: str, network: str = "") -> Seen:
    """Answers PING with PONG: not while it loads its data."""
    return _said(address, network, b"PING\r\n", rb"\+PONG\r\n")


def redis_cluster_answer(address: str, network: str = "") -> Seen:
    """Answers CLUSTER INFO with the state ok. Every node is asked: one that has just started takes the others
    for alive."""
    seen = _said(address, network, b"CLUSTER INFO\r\n", rb"\$")
    return Seen(seen.ready and "cluster_state:ok" in seen.state, seen.state)


def cassandra_answer(address: str, network: str = "") -> Seen:
    """Answers OPTIONS of CQL's protocol with SUPPORTED: it listens once it has joined the ring. Whether the
    nodes see each other, and keep a row, is for `StoreTool` to find out."""
    return _said(address, network, b"\x04\0\0\0\x05\0\0\0\0", rb"\x84\0\0\0\x06")


def accumulo_answer(address: str, network: str = "") -> Seen:
    """A tablet server tells the ZooKeeper that it belongs to: a call by Thrift, framed, in its compact
    protocol. Whether the manager has assigned tablets is for `StoreTool` to find out."""
    call = b"\x82\x21\0\x14client:getZooKeepers\0"
    question = len(call).to_bytes(4, "big") + call
    return _said(address, network, question, rb".{4}\x82\x41\0\x0dgetZooKeepers")


_ANSWERS: Mapping[StoreName, Callable[[str, str], Seen]] = {
    "accumulo": accumulo_answer,
    "cassandra": cassandra_answer,
    "redis": redis_answer,
    "redis-cluster": redis_cluster_answer,
}
"""RocksDB has no daemon."""


def kudu_answer(fetch: Fetch, page: str, address: str) -> Seen:
    """The master lists the server at `address` among those that answer it now. `page`: the master's."""
    url = f"http://{page}/dump-entities"
    try:
        known = fetch(url)
        live = [server for server in known["tablet_servers"] if server["live"]]
        found = {at for server in (*known["masters"], *live) for at in server["rpc_addrs"]}
    except (OSError, http.client.HTTPException) as error:
        # Until the master has opened its catalog, it redirects to a page for people.
        return Seen(False, f"no answer from {url}: {error}")
    except (LookupError, TypeError, ValueError) as error:
        return Seen(False, f"servers not known yet at {url}: {error!r}")
    return Seen(address in found, f"the master knows {', '.join(sorted(found)) or 'no server'}")


def _said(address: str, network: str, question: bytes, answer: bytes) -> Seen:
    """Whether what listens at `address` answers `question` with what begins with the pattern `answer`."""
    host, _, port = address.rpartition(":")
    try:
        with connect(network, (host, int(port)), REQUEST_TIMEOUT_S) as connection:
            connection.sendall(question)
            said = connection.recv(200)
    except OSError as error:
        return Seen(False, f"no answer from {address}: {error}")
    ready = re.match(answer, said, re.DOTALL) is not None
    return Seen(ready, f"answers {said.decode(errors='replace').strip()!r}")


def hdfs_seen(beans: dict[str, Any], expected: int) -> Seen:
    """Out of safe mode, with every DataNode."""
    live, state = beans["NumLiveDataNodes"], beans["FSState"]
    ready = live == expected and state == "Operational"
    return Seen(ready, f"{live} of {expected} DataNodes live, {state}")


def yarn_seen(beans: dict[str, Any], expected: int) -> Seen:
    """Every NodeManager running."""
    active = beans["NumActiveNMs"]
    return Seen(active == expected, f"{active} of {expected} NodeManagers running")


def hbase_seen(beans: dict[str, Any], expected: int) -> Seen:
    """The active master is initialised (hbase:meta is assigned then), and every server has joined."""
    live, active = beans["numRegionServers"], beans["tag.isActiveMaster"]
    finished = int(beans.get("masterFinishedInitializationTime", 0)) > 0
    ready = live == expected and active == "true" and finished
    stage = "initialised" if finished else "initialising"
    return Seen(ready, f"{live} of {expected} RegionServers live, master {stage}")


def fetch_json(url: str, timeout_s: float = REQUEST_TIMEOUT_S, network: str = "") -> Any:
    """The answer of a web server of the `network`. OSError, HTTPException or ValueError if it gives none."""
    place = urlsplit(url)
    with closing(Connection(place.netloc, network, timeout_s)) as connection:
        # Hadoop's /conf goes by this header, HBase's by the parameter `format`
        wanted = {"Accept": "application/json"}
        connection.request("GET", place._replace(scheme="", netloc="").geturl(), headers=wanted)
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise http.client.HTTPException(f"HTTP {answer.status} {answer.reason}")
        return json.load(answer)


def _query(fetch: Fetch, url: str, judge: Judge, expected: int) -> Seen:
    try:
        return judge(fetch(url)["beans"][0], expected)
    except (OSError, http.client.HTTPException) as error:
        return Seen(False, f"no answer from {url}: {error}")
    except (LookupError, ValueError) as error:
        # The web server is up before the service has registered its metrics.
        return Seen(False, f"metrics not available yet at {url}: {error!r}")
