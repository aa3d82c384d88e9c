"""A made-up healthy cluster: uneven, autocorrelated, with bursts of compaction, flushes and collections.

Every series that a rule looks at is there, at every host, disk, card, node or daemon that has it. Servers get
unequal loads, and what they use follows; latencies follow a little. Bursts come at some host at some time and
slow nothing down; nor are the slow seconds explained by anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from density_study.analysis.explanation.course import Course, Place, Series

SECONDS = 60
FIRST = 10
DISKS, CPUS = 3, 4


class Usual(NamedTuple):
    """Median; deviation of the logarithm in time, and between places; exponent with which it follows load."""

    median: float
    noise: float = 0.4
    uneven: float = 0.2
    follows: float = 0.0


USE = 1.0
LATE = 0.3
HOSTS = {
    "cpu_used": Usual(35, 0.15, 0.1, USE), "iowait": Usual(2, 0.7, 0.4, USE), "steal": Usual(0.2, 0.8),
    "other_programs": Usual(1.5, 0.7, 0.5), "io_stall": Usual(6, 0.6, 0.3, USE),
    "cpu_stall": Usual(20, 0.25, 0.2, USE), "run_delay": Usual(6, 0.5, 0.3, USE),
    "memory_stall": Usual(0), "direct_reclaims": Usual(0), "huge_page_stalls": Usual(0),
    "other_writes": Usual(3, 1.0), "memory_cached": Usual(30_000, 0.01, 0.2),
    "major_faults": Usual(1, 1.0), "swapped": Usual(0), "numa_misses": Usual(50, 1.0, 0.5),
    "writeback": Usual(2, 1.0), "resent_share": Usual(0.03, 1.3, 0.5), "tcp_pruned": Usual(0),
    "listen_overflows": Usual(0), "clock_step": Usual(0.05, 0.5),
    "canary_compute_time": Usual(400, 0.03, 0.02), "cycles_per_instruction": Usual(1.2, 0.06, 0.05),
}  # fmt: skip
PARTS = {
    **{
        f"sd{n}": {
            "disk_reads": Usual(60, 0.4, 0.1, USE), "disk_writes": Usual(80, 0.4, 0.1, USE),
            "read_await": Usual(4, 0.5, 0.2, LATE), "write_await": Usual(6, 0.6, 0.2, LATE),
            "disk_busy": Usual(20, 0.3, 0.1, USE), "disk_queue": Usual(0.8, 0.6, 0.2, USE),
            "disk_free": Usual(40, 0.001, 0.3),
        }
        for n in range(DISKS)
    },
    **{f"cpu{n}": {"softirq": Usual(2, 0.6, 0.4, USE), "dropped_share": Usual(0)} for n in range(CPUS)},
    "eth0": {
        "card_drops": Usual(0), "card_send_use": Usual(12, 0.4, 0.1, USE),
        "card_receive_use": Usual(12, 0.4, 0.1, USE),
    },
}  # fmt: skip
PROCESS = {
    "stopped": Usual(0), "ended": Usual(0), "logged": Usual(0.001, 1.5, 0.5), "no_space": Usual(0),
    "refused_transfers": Usual(0), "lost_sessions": Usual(0), "no_handles": Usual(0), "safe_mode": Usual(0),
}  # fmt: skip
DAEMONS = {
    "regionserver": {
        "calls": Usual(900, 0.1, 0.05, USE), "cache_lookups": Usual(1500, 0.1, 0.05, USE),
        "cache_hits": Usual(95, 0.01, 0.01), "cache_evictions": Usual(8, 0.8, 0.3, USE),
        "locality": Usual(100, 0, 0), "flush_queue": Usual(0), "compaction_queue": Usual(0),
        "compacted": Usual(0), "updates_blocked": Usual(0), "wal_syncs": Usual(150, 0.2, 0.1, USE),
        "wal_sync": Usual(3, 0.5, 0.2, LATE), "wal_sync_longest": Usual(20, 0.7, 0.2, LATE),
        "queue_time": Usual(0.3, 0.6, 0.2, USE), "queue_time_longest": Usual(9, 0.9, 0.2, LATE),
        "queued_calls": Usual(0.3, 0.8, 0.3, USE), "active_handlers": Usual(2, 0.5, 0.2, USE),
        "process_time": Usual(1.2, 0.4, 0.2, LATE), "gc_time": Usual(1, 0.9, 0.3, USE),
        "silent": Usual(0), "flushing": Usual(0), "compacting": Usual(0), "regions_moved": Usual(0),
        "blocked_threads": Usual(0.3, 0.9, 0.3, USE), "throttled_calls": Usual(0), "refused_calls": Usual(0),
        **PROCESS,
    },
    "datanode": {
        "datanode_read": Usual(20, 0.4, 0.1, USE), "block_read_time": Usual(5, 0.8, 0.2, LATE),
        "fsync_time": Usual(3, 0.6, 0.2, LATE), "ack_time": Usual(2, 0.6, 0.2, LATE),
        "xceivers": Usual(12, 0.2, 0.1, USE), "silent": Usual(0), "gc_time": Usual(0.3, 0.9, 0.3),
        "blocked_threads": Usual(0.2, 0.9, 0.3, USE), "block_moves": Usual(0), "failed_volumes": Usual(0),
        "datanode_free": Usual(2e5, 0.001, 0.3), **PROCESS,
    },
}  # fmt: skip
ALONE = {
    Place("namenode_queue_time", "m", "m/namenode"): Usual(0.2, 1.0),
    Place("namenode_process_time", "m", "m/namenode"): Usual(0.5, 0.8),
    Place("namenode_calls", "m", "m/namenode"): Usual(20, 0.6),
    Place("namenode_blocked_threads", "m", "m/namenode"): Usual(0.1, 0.8),
    Place("namenode_stale_datanodes", "m", "m/namenode"): Usual(0),
    Place("namenode_dead_datanodes", "m", "m/namenode"): Usual(0),
    Place("namenode_pending_deletions", "m", "m/namenode"): Usual(3, 1.0),
    Place("hdfs_writes_of_others", "", "HDFS"): Usual(0.1, 1.0),
    Place("hdfs_reads_of_others", "", "HDFS"): Usual(0.1, 1.0),
    Place("hdfs_share_of_others", "", "HDFS"): Usual(0.5, 0.1),
    Place("client_threads", "", "the clients"): Usual(25, 0.2),
    Place("client_gc_time", "", "ycsb-1"): Usual(0.2, 0.1),
    Place("regions_in_transition", "m", "m/hmaster"): Usual(0),
    Place("regions_stuck", "m", "m/hmaster"): Usual(0),
    Place("region_moves", "m", "m/hmaster"): Usual(0),
    Place("client_cpu", "c"): Usual(40, 0.1),
    Place("client_silent", "", "ycsb-1"): Usual(0),
    Place("other_calls", "", "the RegionServers"): Usual(2, 0.8),
    Place("handlers_of_others", "", "the RegionServers"): Usual(0.3, 0.8),
    Place("outside_time", "", "the clients"): Usual(2, 0.5),
}
# What comes and goes: series, by how much, for how many seconds, and how many times a minute at each host.
BURSTS = (
    ({"compacted": 40, "compacting": 90, "disk_busy": 45, "read_await": 15, "cpu_used": 15, "iowait": 12,
      "cache_evictions": 120}, 6, 0.25),
    ({"flushing": 80, "wal_sync": 15, "write_await": 30, "disk_queue": 12, "flush_queue": 1}, 2, 0.7),
    ({"gc_time": 30, "queue_time": 4, "queue_time_longest": 120}, 1, 1.0),
    ({"writeback": 150, "write_await": 40, "io_stall": 35}, 3, 0.4),
    ({"cpu_stall": 30, "run_delay": 50, "other_programs": 20}, 1, 0.5),
    ({"major_faults": 300, "direct_reclaims": 80, "huge_page_stalls": 30}, 2, 0.2),
    ({"resent_share": 2, "dropped_share": 0.6, "card_drops": 30}, 1, 0.3),
    ({"silent": 100}, 1, 0.1),
    ({"logged": 0.2}, 1, 0.3),
    ({"regions_moved": 1}, 1, 0.1),
)  # fmt: skip
PERCENT = frozenset(
    ("cpu_used", "iowait", "steal", "other_programs", "io_stall", "cpu_stall", "memory_stall", "disk_busy",
     "softirq", "card_send_use", "card_receive_use", "cache_hits", "locality", "updates_blocked", "gc_time",
     "silent", "flushing", "compacting", "client_cpu", "client_silent", "other_calls", "stopped", "ended",
     "disk_free", "hdfs_share_of_others", "client_threads", "client_gc_time")
)  # fmt: skip


@dataclass(frozen=True)
class Cluster:
    """Of so many workers, which stay as unequal as they are in all trials. load: of each worker."""

    load: Any
    places: Mapping[Place, float]
    """The median of each."""
    noise: Any

    @staticmethod
    def of(workers: int, rng: np.random.Generator) -> Cluster:
        load = rng.lognormal(0, 0.35, workers)
        found = dict(_places(workers))
        follows = [
            load[int(place.host[1:])] ** usual.follows if place.host.startswith("w") else 1.0
            for place, usual in found.items()
        ]
        uneven = np.array([usual.uneven for usual in found.values()])
        medians = np.array([usual.median for usual in found.values()]) * follows
        medians *= np.exp(uneven * rng.normal(size=len(found)))
        noise = np.array([usual.noise for usual in found.values()])
        return Cluster(load, dict(zip(found, medians, strict=True)), noise)

    def trial(self, rng: np.random.Generator) -> Course:
        """A healthy one. In every second one a few seconds are slow, and nobody knows why."""
        drift = 0.1 * self.noise[:, None] * rng.normal(size=(len(self.places), 1))
        values = np.array(list(self.places.values()))[:, None] * np.exp(
            drift + self.noise[:, None] * _autocorrelated(rng, len(self.places))
        )
        series = Series(
            (*self.places, *(facts := self._facts(rng))), np.vstack([values, *facts.values()])
        )
        for worker in range(len(self.load)):
            for by, length, times in BURSTS:
                for _ in range(rng.poisson(times * SECONDS / 60)):
                    begin = rng.integers(0, SECONDS)
                    raised(series, by, f"w{worker}", slice(begin, begin + length))
        _capped(series)
        rate = 3000 * np.exp(0.05 * _autocorrelated(rng, 1)[0] + rng.normal(0, 0.01))
        worst = 40 * rng.lognormal(0, 0.4, SECONDS)
        for begin in rng.integers(3, SECONDS - 5, rng.poisson(0.7)):
            slow = slice(begin, begin + rng.integers(1, 4))
            rate[slow] *= rng.uniform(0.2, 0.6)
            worst[slow] = rng.uniform(300, 900)
        roles = {f"w{n}": "worker" for n in range(len(self.load))} | {"m": "master", "c": "client"}
        return Course(FIRST, rate, worst, (), series, roles=roles)

    def _facts(self, rng: np.random.Generator) -> Mapping[Place, Any]:
        """Requests of servers and regions, the same in each second; keys are spread as the load is."""
        share = self.load / self.load.sum() * rng.normal(1, 0.02, len(self.load))
        found = {}
        for worker, of_worker in enumerate(share):
            found[Place("server_requests", "", f"s{worker}")] = 100 * of_worker
            found[Place("server_excess", "", f"s{worker}")] = of_worker * len(share)
            for region in range(3):
                found[Place("region_share", "", f"r{worker}-{region}")] = 100 * of_worker / 3
                found[Place("region_excess", "", f"r{worker}-{region}")] = of_worker * len(share)
        return {place: np.full(SECONDS, value) for place, value in found.items()}


def raised(series: Series, by: Mapping[str, float], host: str, seconds: slice) -> None:
    """At one place of each series on the host, as one disk or one daemon has it."""
    for name, more in by.items():
        rows = [row for row in series.rows[name] if series.places[row].host == host]
        series.values[rows[0], seconds] += more


def slowed(course: Course, seconds: slice, to: float) -> Course:
    rate, worst = course.rate.copy(), course.worst_ms.copy()
    rate[seconds] *= to
    worst[seconds] *= 8
    return replace(course, rate=rate, worst_ms=worst)


def _places(workers: int) -> Iterator[tuple[Place, Usual]]:
    for worker in range(workers):
        host = f"w{worker}"
        for name, usual in HOSTS.items():
            yield Place(name, host), usual
        yield Place("throttled", host, host), Usual(0)
        for parts, form in ((PARTS, "{}"), (DAEMONS, f"{host}/{{}}")):
            for part, of_part in parts.items():
                for name, usual in of_part.items():
                    yield Place(name, host, form.format(part)), usual
    yield from ALONE.items()


def _autocorrelated(rng: np.random.Generator, rows: int, along: float = 0.6) -> Any:
    """Standard normal noise of which each second has a part of the one before."""
    found = rng.normal(size=(rows, SECONDS))
    for second in range(1, SECONDS):
        found[:, second] = along * found[:, second - 1] + np.sqrt(1 - along**2) * found[:, second]
    return found


def _capped(series: Series) -> None:
    for row, place in enumerate(series.places):
        if place.quantity in PERCENT:
            np.minimum(series.values[row], 100.0, out=series.values[row])
