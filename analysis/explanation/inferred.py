"""What no monitor samples, and several together show: calls and writes of others, time between servers and
clients, threads of clients that are all busy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from density_study.analysis.explanation.course import (
    Array,
    Happening,
    Mask,
    Place,
    centre_and_spread,
    share_of_seconds,
    without_gaps,
)
from density_study.analysis.explanation.sampled import Seconds
from density_study.cluster.model.host import MIB
from density_study.workloads.testdfsio.modes import WRITES

CLIENTS = "the clients"
LATE = 1.5  # times the usual interval of a client's histograms
MISSED_MIB = 2 * 65536 / MIB
"""The most that a block cache's miss reads: HBase's usual block, and as much again of its file's index."""
_OF_SERVERS = (
    "log_written",
    "flush_written",
    "compaction_written",
    "compacted",
    "cache_lookups",
    "cache_hits",
)
COUNTED = (*WRITES, "read")
"""Modes of TestDFSIO of which DataNodes move what the job requests: one that seeks gets more."""


def calls_of_others(done: Array, found: Mapping[Place, Array]) -> Iterator[tuple[Place, Array]]:
    """Calls of RegionServers beyond the client's operations, of those that they usually have. Operations of
    several calls have the same excess in all seconds; those of less than one call each have none."""
    calls = [values for place, values in found.items() if place.quantity == "calls"]
    if calls:
        total = np.sum(calls, axis=0)
        usual, _ = centre_and_spread(total)
        yield (
            Place("other_calls", "", "the RegionServers"),
            100 * np.maximum(total - done, 0.0) / max(usual, 1.0),
        )


def handlers_of_others(
    threads: float, found: Mapping[Place, Array]
) -> Iterator[tuple[Place, Array]]:
    """Handlers of RegionServers at work beyond one for each thread of the clients, which waits for its call:
    long calls of others are few, and keep many. threads: those of all clients."""
    at_work = [values for place, values in found.items() if place.quantity == "active_handlers"]
    if at_work:
        beyond = np.maximum(np.sum(at_work, axis=0) - threads, 0.0)
        yield Place("handlers_of_others", "", "the RegionServers"), beyond


def silent_client(
    seconds: Seconds, intervals: pd.DataFrame, start_s: float
) -> Iterator[tuple[Place, Array]]:
    """For each client, the share of each second in which it wrote no histogram although one was due: a server
    that hangs does not prevent that. intervals: those of its histograms."""
    # in turns of another trial, no time passes
    for client, of_client in intervals[intervals["length_s"] > 0].groupby("client"):
        due_s = float(of_client["length_s"].median())
        begun_s = of_client["begun_s"] - start_s
        late = of_client["length_s"] > LATE * due_s
        gaps = [
            Happening("silent", str(client), begin + due_s, begin + length, "")
            for begin, length in zip(begun_s[late], of_client["length_s"][late], strict=True)
        ]
        within = range(seconds.first, seconds.first + seconds.count)
        yield Place("client_silent", "", str(client)), 100 * share_of_seconds(gaps, within)


def outside_servers(
    time_ms: Array, done: Array, found: Mapping[Place, Array]
) -> Iterator[tuple[Place, Array]]:
    """The time of an operation, ms, that its calls spent neither in the queue of a RegionServer nor in its
    handlers. Calls of others count as the client's: it is never too much. time_ms, done: as in
    `within_operations`."""
    servers = [place[1:] for place in found if place.quantity == "process_time"]
    within_ms = np.zeros(len(done))
    for server in servers:
        calls, *times = (
            without_gaps(found.get(Place(name, *server), np.full(len(done), np.nan)))
            for name in ("calls", "process_time", "queue_time")
        )
        within_ms += calls * np.sum(times, axis=0)
    if servers:
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = np.maximum(time_ms - within_ms, 0.0) / np.where(done > 0, done, np.nan)
        yield Place("outside_time", "", CLIENTS), outside


def busy_threads(time_ms: Array, threads: float) -> Iterator[tuple[Place, Array]]:
    """How much of their time the clients' threads spent in operations: with all of it, no higher rate is
    possible, whatever the target. time_ms: as in `within_operations`. threads: those of all clients."""
    yield Place("client_threads", "", CLIENTS), time_ms / 1000 / threads * 100


def within_operations(
    seconds: Seconds, logged: pd.DataFrame, start_s: float
) -> tuple[Array, Array]:
    """By second: the time within all operations, ms, and how many there were. logged: of clients."""
    rows = logged[logged["kind"] == "closed-loop"]
    second = np.floor(rows["begun_s"] + rows["length_s"] / 2 - start_s).astype(int)
    of_second = rows.groupby(second)[["time_us", "operations"]].sum()
    return seconds.placed(of_second["time_us"]) / 1000, seconds.placed(of_second["operations"])


def writes_of_others(found: Mapping[Place, Array]) -> Iterator[tuple[Place, Array]]:
    """What the disks of each host wrote beyond all that its DataNodes had written by then, MiB/s: the kernel
    writes to a disk later than they do."""
    for place, to_disks in found.items():
        own = [
            values
            for other, values in found.items()
            if other.quantity == "datanode_written" and other.host == place.host
        ]
        if place.quantity == "disk_write" and own:
            more = to_disks - np.sum(own, axis=0)
            most = np.maximum.accumulate(np.maximum(np.nancumsum(more), 0.0))
            beyond = np.diff(most, prepend=0.0)
            yield Place("other_writes", place.host), np.where(np.isfinite(more), beyond, np.nan)


def hdfs_of_others(
    found: Mapping[Place, Array], replication: float
) -> Iterator[tuple[Place, Array]]:
    """What DataNodes wrote and read beyond all that RegionServers let them, MiB/s. A flush or a compaction is
    counted when it ends: what they take back later is nobody else's. Empty unless all were sampled."""
    servers = [place[1:] for place in found if place.quantity == "wal_syncs"]
    places = [[Place(name, *server) for name in _OF_SERVERS] for server in servers]
    if not places or any(place not in found for of in places for place in of):
        return
    written: Array = np.zeros(1)
    read: Array = np.zeros(1)
    for of in places:
        log, flushed, made, compacted, lookups, hits = (
            np.nan_to_num(without_gaps(found[place])) for place in of
        )
        written = written + replication * (log + flushed + made)
        read = read + MISSED_MIB * lookups * (1 - hits / 100) + compacted + flushed
    for quantity, total, own in (
        ("hdfs_writes_of_others", "datanode_written", written),
        ("hdfs_reads_of_others", "datanode_read", read),
    ):
        of_datanodes = [values for place, values in found.items() if place.quantity == total]
        if of_datanodes:
            more = np.sum(of_datanodes, axis=0) - own
            least = np.minimum.accumulate(np.nancumsum(more)[::-1])[::-1]
            beyond = np.diff(np.maximum(least, 0.0), prepend=0.0)
            yield Place(quantity, "", "HDFS"), np.where(np.isfinite(more), beyond, np.nan)


def between_maps(seconds: Seconds, attempts: pd.DataFrame, tasks_s: float, start_s: float) -> Mask:
    """The seconds with less than half as many working maps as usual. attempts: with start_epoch_s and
    finish_epoch_s. tasks_s: the sum of the times in which maps read or wrote; before that they start JVMs."""
    begun_s, ended_s = (attempts[name] - start_s for name in ("start_epoch_s", "finish_epoch_s"))
    start_up_s = max(0.0, float((ended_s - begun_s).sum()) - tasks_s) / max(len(attempts), 1)
    within = range(seconds.first, seconds.first + seconds.count)
    at_work = np.zeros(seconds.count)
    for begin, end in zip(begun_s + start_up_s, ended_s, strict=True):
        at_work += share_of_seconds([Happening("map", "", begin, end, "")], within)
    some = at_work[at_work > 0]
    found: Mask = at_work < np.median(some) / 2 if len(some) else np.zeros(seconds.count, bool)
    return found


def own_share(about: Mapping[Any, Any], found: Mapping[Place, Array]) -> float:
    """The share that a job of TestDFSIO requested, of all bytes that DataNodes wrote and read while it ran; 1
    where that is not known. about: its row of `trials`."""
    times = about["replication"] if about["mode"] in WRITES else 1
    unknown = pd.isna(about["asked_bytes"]) or pd.isna(times) or about["mode"] not in COUNTED
    if unknown or not pd.isna(about["compression"]) or not pd.isna(about["erasure_coding"]):
        return 1.0
    moved = sum(
        float(np.nansum(values))
        for place, values in found.items()
        if place.quantity in ("datanode_read", "datanode_written")
    )
    return min(1.0, about["asked_bytes"] * times / MIB / moved) if moved > 0 else 1.0
