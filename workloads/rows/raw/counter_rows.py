"""Parts of a row of `trials` that come from counters of daemons and kernels around the trial. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from density_study.cluster.model.topology import Topology
from density_study.workloads.record.manifest import Manifest

Row = dict[str, Any]
MIN_REQUESTS = 100
"""Per server or region: fewer are no evidence of how requests are spread."""


def hdfs_row(manifest: Manifest) -> Row:
    """TestDFSIO: what a write left in memory, and bytes read by distance. None: not known."""
    unwritten = manifest.state_after.get("unwritten", {})
    read = manifest.state_after.get("hdfs_read", {})
    return {
        "unwritten_bytes": unwritten.get("bytes"),
        "write_out_s": unwritten.get("write_out_s"),
        **{f"read_{where}_bytes": read.get(where) for where in ("sent", "local", "rack", "remote")},
    }


def request_row(manifest: Manifest) -> Row:
    """The part of a row of `trials` that says how evenly requests were spread over HBase's servers and
    regions, by the increase of their counters over the window."""
    before, after = (
        state.get("hbase", {}) for state in (manifest.state_before, manifest.state_after)
    )
    # a server that was killed took its counters along
    known = bool(before and after) and manifest.fault is None
    servers = regions = None
    if known:
        servers = _increase(*(_servers(manifest, state) for state in (before, after)))
        regions = _increase(before["regions"], after["regions"])
    return {
        "busiest_server": max(servers) * len(servers) / sum(servers) if servers else None,
        "busiest_region_share": max(regions) / sum(regions) if regions else None,
    }


def _servers(manifest: Manifest, state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those that should share the requests: an idle one makes the others hot. But a noisy neighbour's victim
    has its table on one node, and servers of others may be closed to it."""
    is_whole = manifest.test_case.summary_fields().get("neighbour") is None
    every = is_whole and isinstance(manifest.topology, Topology)
    return [one for one in state["servers"] if every or one["regions"]]


def region_rows(manifest: Manifest) -> Iterator[Row]:
    """Rows of `regions`. Requests are null where the counters do not show the window's."""
    before, after = (
        state.get("hbase", {}).get("regions", [])
        for state in (manifest.state_before, manifest.state_after)
    )
    first = {one["name"]: _requests(one) for one in before}
    for one in after:
        increase = _requests(one) - first[one["name"]] if one["name"] in first else -1
        yield {
            "trial": manifest.trial,
            "region": one["name"],
            "start_key": one.get("start_key"),
            "server": one.get("server"),
            "requests": increase if increase >= 0 and manifest.fault is None else None,
            "locality": one.get("locality"),
            "store_files": one.get("store_files"),
            "store_file_mib": one.get("store_file_mib"),
        }


def _requests(counters: Mapping[str, Any]) -> int:
    return int(counters["read_requests"] + counters["write_requests"])


def _increase(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[int] | None:
    """Requests to each server or region. None if one of them is new or gone, its counters were reset, or
    there were too few requests to show how they are spread."""
    first, last = ({one["name"]: _requests(one) for one in state} for state in (before, after))
    if first.keys() != last.keys():
        return None
    found = [last[name] - first[name] for name in last]
    return found if min(found) >= 0 and sum(found) >= MIN_REQUESTS * len(found) else None
