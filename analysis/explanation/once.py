"""What a trial has once, from its tables: roles and cores of hosts and nodes, requests to each region, time
that clients spent in garbage collection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from density_study.analysis.explanation.course import HOST, Array, Place
from density_study.workloads.ycsb.output.summary import GC_MEASURE, GC_PERCENT, stood_still


def roles(nodes: pa.Table | None) -> Iterator[tuple[str, str]]:
    """Yields the role of each host and each node."""
    found: dict[str, set[str]] = {}
    for one in nodes.to_pylist() if nodes is not None else ():
        for name in (one["host"], one["node"]):
            found.setdefault(name, set()).update(one["roles"] or ())
    for name, of_name in found.items():
        yield name, "worker" if "worker" in of_name else ",".join(sorted(of_name))


def cores_of(nodes: pa.Table | None) -> Iterator[tuple[tuple[str, str], float]]:
    """How many cores each host has, and each node may use; by host, and node or HOST. Unknown ones are left
    out."""
    for one in nodes.to_pylist() if nodes is not None else ():
        if one["host_cores"]:
            yield (one["host"], HOST), one["host_cores"]
            yield (one["host"], one["node"]), one["cores"] or one["host_cores"]


def requests(rows: pa.Table | None) -> dict[Place, float]:
    """How requests were spread over regions and servers of the table: shares, and times a fair share."""
    if rows is None:
        return {}
    frame = rows.select(["region", "start_key", "server", "requests"]).to_pandas().dropna()
    total = float(frame["requests"].sum())
    if frame.empty or not total:
        return {}
    by_server = frame.groupby("server")["requests"].sum() / total
    found = {}
    for name, share in by_server.items():
        found[Place("server_requests", "", str(name))] = 100 * float(share)
        found[Place("server_excess", "", str(name))] = float(share) * len(by_server)
    for key, share in zip(frame["start_key"], frame["requests"] / total, strict=True):
        place = f"the region from {key or 'the first key'}"
        found[Place("region_share", "", place)] = 100 * float(share)
        found[Place("region_excess", "", place)] = float(share) * len(frame)
    return found


def collecting_clients(summary: pa.Table | None, seconds: int) -> Iterator[tuple[Place, Array]]:
    """For each client, its share of time in garbage collection, the same in each second."""
    if summary is None:
        return
    printed: dict[str, dict[str, float]] = {}
    rows = summary.filter(pc.field("measure") == GC_MEASURE)
    for row in rows.select(["client", "name", "value"]).to_pylist():
        printed.setdefault(row["client"], {})[row["name"]] = row["value"]
    for client, times in printed.items():
        if (percent := stood_still(times, GC_PERCENT)) is not None:
            yield Place("client_gc_time", "", client), np.full(seconds, percent, float)
