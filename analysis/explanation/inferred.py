"""What no monitor samples, and several together show: calls and writes of others, time between servers and
clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from density_study.analysis.explanation.course import (
    Array,
    Happening,
    Place,
    centre_and_spread,
    share_of_seconds,
    without_gaps,
)
from density_study.analysis.explanation.sampled import Seconds

LATE = 1.5  # times the usual interval of a client's histograms


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


def silent_client(
    seconds: Seconds, intervals: pd.DataFrame, start_s: float
) -> Iterator[tuple[Place, Array]]:
    """For each client, the share of each second in which it wrote no histogram although one was due: a server
    that hangs does not prevent that. intervals: those of its histograms."""
    for client, of_client in intervals.groupby("client"):
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
    seconds: Seconds, logged: pd.DataFrame, start_s: float, found: Mapping[Place, Array]
) -> Iterator[tuple[Place, Array]]:
    """The time of an operation, ms, that its calls spent neither in the queue of a RegionServer nor in its
    handlers. Calls of others count as the client's: it is never too much. logged: intervals of clients."""
    rows = logged[logged["kind"] == "closed-loop"]
    second = np.floor(rows["begun_s"] + rows["length_s"] / 2 - start_s).astype(int)
    of_second = rows.groupby(second)[["time_us", "operations"]].sum()
    time_ms, done = (seconds.placed(of_second[name]) for name in ("time_us", "operations"))
    servers = [place[1:] for place in found if place.quantity == "process_time"]
    within_ms = np.zeros(seconds.count)
    for server in servers:
        calls, *times = (
            without_gaps(found.get(Place(name, *server), np.full(seconds.count, np.nan)))
            for name in ("calls", "process_time", "queue_time")
        )
        within_ms += calls * np.sum(times, axis=0)
    if servers:
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = np.maximum(time_ms / 1000 - within_ms, 0.0) / np.where(done > 0, done, np.nan)
        yield Place("outside_time", "", "the clients"), outside


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
