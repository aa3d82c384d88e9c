"""Readiness: each service is asked for what it is there for, not whether a port is open."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cluster.model.cluster import Endpoints
from cluster.model.topology import Topology

Fetch = Callable[[str], Any]
REQUEST_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Seen:
    """What a service answered: whether that is readiness, and in words what it was."""

    ready: bool
    said: str


@dataclass(frozen=True)
class Service:
    """`daemon` is who answers for the service, and whose log to look at when it never does."""

    name: str
    daemon: str
    check: Callable[[], Seen]


def services(topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None) -> list[Service]:
    """HDFS, YARN and HBase of a topology, with their checks."""
    ask = fetch or fetch_json
    workers = len(topology.workers)
    servers = len(endpoints.regionserver_http)
    namenode = f"http://{endpoints.namenode_http}/jmx?qry={_FS_STATE}"
    resourcemanager = f"http://{endpoints.resourcemanager_http}/jmx?qry={_RM_METRICS}"
    hmaster = f"http://{endpoints.hmaster_http}/jmx?qry={_HMASTER}"
    return [
        Service("hdfs", "namenode", lambda: _asked(ask, namenode, hdfs_seen, workers)),
        Service(
            "yarn", "resourcemanager", lambda: _asked(ask, resourcemanager, yarn_seen, workers)
        ),
        Service("hbase", "hmaster", lambda: _asked(ask, hmaster, hbase_seen, servers)),
    ]


_FS_STATE = "Hadoop:service=NameNode,name=FSNamesystemState"
_RM_METRICS = "Hadoop:service=ResourceManager,name=ClusterMetrics"
_HMASTER = "Hadoop:service=HBase,name=Master,sub=Server"


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
    """The active master has ended its initialisation (hbase:meta is assigned then), all servers in."""
    live, active = beans["numRegionServers"], beans["tag.isActiveMaster"]
    finished = int(beans.get("masterFinishedInitializationTime", 0)) > 0
    ready = live == expected and active == "true" and finished
    stage = "initialised" if finished else "initialising"
    return Seen(ready, f"{live} of {expected} RegionServers live, master {stage}")


def fetch_json(url: str, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
    with urllib.request.urlopen(url, timeout=timeout_s) as answer:
        return json.load(answer)


def _asked(
    ask: Fetch, url: str, judge: Callable[[dict[str, Any], int], Seen], expected: int
) -> Seen:
    try:
        return judge(ask(url)["beans"][0], expected)
    except (OSError, http.client.HTTPException, urllib.error.URLError) as error:
        return Seen(False, f"no answer from {url}: {error}")
    except (LookupError, ValueError) as error:
        # The web server is up before the service has registered its numbers.
        return Seen(False, f"no such numbers yet at {url}: {error!r}")
