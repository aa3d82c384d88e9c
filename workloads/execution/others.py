"""What others did on an existing cluster during a trial: two readings of the cluster's own counters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.existing import JOB_TAG
from density_study.cluster.providers.existing.web import get_json, understood
from density_study.workloads.base.values import OthersLoad
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.table_tool import table_tool


@dataclass(frozen=True)
class OthersReading:
    """Counters that only grow. None: the cluster did not report them.

    `requests`: to the regions of others' tables, since each was opened. `vcore_s`: that of each of others'
    YARN applications. `servers`: RegionServers, by names that change when they restart.
    """

    epoch_s: float
    requests: Mapping[str, int] | None = None
    vcore_s: Mapping[str, float] | None = None
    servers: frozenset[str] | None = None
    faults: tuple[str, ...] = field(default=())


def read_others(context: TrialContext, name: str) -> OthersReading | None:
    """The counters now; None unless the cluster is an existing one. Takes seconds: not within a window."""
    existing = context.cluster.topology.existing
    if existing is None:
        return None
    if (
        existing.endpoint is not None
    ):  # no YARN and no RegionServers; nobody counts the requests of others
        return OthersReading(time.time(), None, {}, frozenset())
    faults = []
    requests = servers = vcore_s = None
    try:
        (hbase,) = table_tool(context, name, ("servers", "--namespace", existing.namespace))
        requests = hbase["other_requests"]
        servers = frozenset(server["name"] for server in hbase["servers"])
    except StudyError as error:
        faults.append(str(error))
    try:
        vcore_s = _vcore_s(context.cluster)
    except StudyError as error:
        faults.append(str(error))
    return OthersReading(time.time(), requests, vcore_s, servers, tuple(faults))


def _vcore_s(cluster: Cluster) -> dict[str, float]:
    """Allocated vcore seconds so far of each application of others that YARN still knows."""
    manager = cluster.endpoints.one("resourcemanager.http")
    with understood(manager):
        answer = get_json(manager, "/ws/v1/cluster/apps", access=cluster.access)
        apps = (answer["apps"] or {}).get("app", [])
        return {
            app["id"]: float(app["vcoreSeconds"])
            for app in apps
            if JOB_TAG not in str(app.get("applicationTags", "")).split(",")
        }


def others_between(before: OthersReading | None, after: OthersReading | None) -> OthersLoad | None:
    """What others did between two readings; None unless the cluster is an existing one."""
    if before is None or after is None:
        return None
    return OthersLoad(
        seconds=after.epoch_s - before.epoch_s,
        hbase_requests=_grown(before.requests, after.requests),
        yarn_vcore_s=_grown(before.vcore_s, after.vcore_s),
        regionservers_gone=None
        if before.servers is None or after.servers is None
        else tuple(sorted(before.servers - after.servers)),
        faults=(*before.faults, *after.faults),
    )


def _grown(before: Mapping[str, float] | None, after: Mapping[str, float] | None) -> float | None:
    """The sum of what grew. A region that was opened anew counts from nothing; one that is gone took its
    count along, so that the sum is the least that others did."""
    if before is None or after is None:
        return None
    growth = ((count, count - before.get(name, 0)) for name, count in after.items())
    return float(sum(by if by >= 0 else count for count, by in growth))
