"""What was sampled in a trial, as series by second, from its tables.

Tables have a row per series and second; they are spread into matrices by sorting codes, not row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from density_study.analysis.explanation.course import (
    Array,
    Happening,
    Place,
    centre_and_spread,
    share_of_seconds,
)
from density_study.analysis.explanation.once import cores_of, requests
from density_study.cluster.model.host import MIB
from density_study.workloads import tables
from density_study.workloads.monitors.devices import devices
from density_study.workloads.tables import Table

Rows = Mapping[Table, pa.Table | None]
NAMENODE = "namenode"
JMX = "jmx"
_OF_HOST = {
    "disk_read": "disk_read_bytes_s",
    "disk_write": "disk_write_bytes_s",
    "net_receive": "net_receive_bytes_s",
    "net_send": "net_send_bytes_s",
    "memory_available": "memory_available_bytes",
    "memory_cached": "memory_cached_bytes",
}
_OF_ONE_CORE = ("throttled", "run_delay")
_SHARES = {  # of a loss: its share, and the series of what is usually lost in part
    "retransmitted": ("resent_share", "sent_segments"),
    "packets_dropped": ("dropped_share", "packets"),
}
ACTIVITIES = {"flush": "flushing", "compaction": "compacting"}


@dataclass(frozen=True)
class Seconds:
    """The seconds of a trial that count: after its ramp-up, without those in which clients start and end."""

    first: int
    count: int

    def spread(self, rows: pa.Table, by: Sequence[str], values: Sequence[str]) -> _Spread:
        """Each of `values` as a matrix: a row per combination of `by`, a column per second."""
        second = rows["second"].to_numpy() - self.first
        rows = rows.filter(pa.array((second >= 0) & (second < self.count)))
        second = second[(second >= 0) & (second < self.count)]
        code = np.zeros(len(rows), np.int64)
        texts = []
        for name in by:
            coded = rows[name].combine_chunks().dictionary_encode()
            texts.append(np.array(coded.dictionary.to_pylist(), object))
            code = code * max(1, len(coded.dictionary)) + coded.indices.to_numpy()
        found, row = np.unique(code, return_inverse=True)
        keys = []
        for names in reversed(texts):
            keys.append(names[found % max(1, len(names))] if len(names) else np.zeros(0, object))
            found = found // max(1, len(names))
        matrices = {}
        for name in values:
            matrices[name] = np.full((len(keys[0]), self.count), np.nan)
            matrices[name][row, second] = rows[name].to_numpy()
        return _Spread(list(zip(*reversed(keys), strict=True)), matrices)

    def placed(self, values: pd.Series[float]) -> Array:
        """The values (indexed by second) of all seconds; NaN where there is none."""
        found: Array = values.reindex(pd.RangeIndex(self.first, self.first + self.count)).to_numpy(
            float
        )
        return found


@dataclass(frozen=True)
class _Spread:
    keys: list[tuple[str, ...]]
    of: Mapping[str, Array]


def sampled(
    seconds: Seconds, rows: Rows, events: Sequence[Happening]
) -> Iterator[tuple[Place, Array]]:
    """Each place with its values by second; what the trial has once is the same in each."""
    cpu, disks, devices = (
        rows[table]
        for table in (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES, tables.DEVICE_SERIES)
    )
    if cpu is not None:
        yield from _of_cpu(seconds, cpu, rows[tables.NODES])
    if disks is not None:
        spread = seconds.spread(disks, ["host"], list(_OF_HOST.values()))
        for row, (host,) in enumerate(spread.keys):
            for quantity, column in _OF_HOST.items():
                yield Place(quantity, host), spread.of[column][row] / MIB
    if devices is not None:
        yield from _of_devices(seconds, devices, rows[tables.NODES])
    yield from _active(seconds, events, _servers(devices))
    for place, value in requests(rows[tables.REGIONS]).items():
        yield place, np.full(seconds.count, value)


def _of_cpu(
    seconds: Seconds, rows: pa.Table, nodes: pa.Table | None
) -> Iterator[tuple[Place, Array]]:
    """iowait, steal, use of each host, and its use by nobody's processes; use of the client."""
    spread = seconds.spread(
        rows, ["host", "scope"], ["cpu_user", "cpu_system", "cpu_iowait", "cpu_steal", "cpu_idle"]
    )
    row_of = {key: row for row, key in enumerate(spread.keys)}
    own = spread.of["cpu_user"] + spread.of["cpu_system"]
    of_node = {(n["host"], n["scope"]): n for n in nodes.to_pylist()} if nodes is not None else {}
    for (host, scope), row in row_of.items():
        if scope == f"host:{host}":
            steal = np.nan_to_num(spread.of["cpu_steal"][row])
            used = 100.0 - spread.of["cpu_idle"][row] - spread.of["cpu_iowait"][row] - steal
            yield Place("iowait", host), spread.of["cpu_iowait"][row]
            yield Place("steal", host), spread.of["cpu_steal"][row]
            yield Place("cpu_used", host), used
            processes = [
                place
                for (where, name), place in row_of.items()
                if where == host and not name.startswith(("host:", "guest:"))
            ]
            if processes:
                of_nodes = np.nansum(own[processes], axis=0)
                some = np.isfinite(own[processes]).any(axis=0)
                yield (
                    Place("other_programs", host),
                    np.where(some, np.maximum(used - of_nodes, 0.0), np.nan),
                )
        elif scope == "client" or scope.startswith("client:"):
            node = of_node.get((host, scope))
            if node is not None and node["cores"]:
                share = own[row] * node["host_cores"] / node["cores"]
                yield Place("client_cpu", host), share


def _of_devices(
    seconds: Seconds, rows: pa.Table, nodes: pa.Table | None
) -> Iterator[tuple[Place, Array]]:
    """Every metric that was sampled, and of each daemon whether it answered at all."""
    spread = seconds.spread(rows, ["name", "host", "source"], ["value"])
    values = spread.of["value"]
    cores = dict(cores_of(nodes))
    by_daemon: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    row_of = {key: row for row, key in enumerate(spread.keys)}
    for (name, host, source), row in row_of.items():
        if name in _OF_ONE_CORE:  # a share of the cores there are means the same on every host
            yield Place(name, host, source), values[row] / cores.get((host, source), np.nan)
            continue
        of_namenode = source.rpartition("/")[2].partition("-")[0] == NAMENODE
        yield Place(f"{NAMENODE}_{name}" if of_namenode else name, host, source), values[row]
        if "/" in source and name in _that_daemons_answer():
            of_daemon = by_daemon.setdefault((host, source), ([], []))
            of_daemon[_that_daemons_answer()[name]].append(row)
        share, whole = _SHARES.get(name, ("", ""))
        if (whole, host, source) in row_of:
            of_all = values[row_of[whole, host, source]]
            usual, _ = centre_and_spread(of_all)
            # a share of the usual number, not of the few of a slow second; if they are more, of those
            yield Place(share, host, source), 100 * values[row] / np.fmax(of_all, max(usual, 1.0))
        if name == "regions":
            moved = np.abs(np.diff(values[row], prepend=np.nan))
            yield Place("regions_moved", host, source), moved
    yield from _silent(values, {key: of[0] or of[1] for key, of in by_daemon.items()})


@cache
def _that_daemons_answer() -> Mapping[str, bool]:
    """Whether a metric that daemons are asked for is a gauge: an answer also holds for the seconds before it
    in which the daemon was silent."""
    return {one.name: bool(one.gauge and not one.when) for one in devices()[JMX].metrics}


def _silent(
    values: Array, by_daemon: Mapping[tuple[str, str], Sequence[int]]
) -> Iterator[tuple[Place, Array]]:
    polled = [row for daemon in by_daemon.values() for row in daemon]
    any_known = np.isfinite(values[polled]).any(axis=0)
    for (host, source), of_daemon in by_daemon.items():
        answered = np.isfinite(values[of_daemon]).any(axis=0)
        silent = np.where(any_known, np.where(answered, 0.0, 100.0), np.nan)
        if answered.any():
            yield Place("silent", host, source), silent


def _servers(devices: pa.Table | None) -> Iterable[str]:
    """RegionServers whose flushes and compactions are counted, also if there are none."""
    if devices is None:
        return ()
    return sorted(
        set(devices["source"].filter(pc.equal(devices["name"], "flush_queue")).to_pylist())
    )


def _active(
    seconds: Seconds, events: Sequence[Happening], servers: Iterable[str]
) -> Iterator[tuple[Place, Array]]:
    """For each second, the share in which a daemon flushed or compacted. It is zero for servers that did
    neither: else no other trial would be a measure for one in which they do."""
    by_place: dict[Place, list[Happening]] = {
        Place(activity, "", server): [] for server in servers for activity in ACTIVITIES.values()
    }
    for event in events:
        if event.kind in ACTIVITIES:
            by_place.setdefault(Place(ACTIVITIES[event.kind], "", event.source), []).append(event)
    for place, found in by_place.items():
        within = range(seconds.first, seconds.first + seconds.count)
        yield place, 100 * share_of_seconds(found, within)
