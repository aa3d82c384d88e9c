"""Series that are computed from others: whose calls, a client's silence, moved regions, shares of losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from density_study.analysis.explanation.causes import Cause
from density_study.analysis.explanation.course import Course, Place, Series
from density_study.analysis.explanation.inferred import (
    busy_threads,
    calls_of_others,
    handlers_of_others,
    hdfs_of_others,
    outside_servers,
    own_share,
    silent_client,
    within_operations,
    writes_of_others,
)
from density_study.analysis.explanation.lasting import Group
from density_study.analysis.explanation.rules import rules
from density_study.analysis.explanation.sampled import Seconds, sampled
from density_study.workloads import tables

SERVERS = [Place("calls", "h1", f"w{n}/regionserver") for n in (1, 2)]


def _sampled(values: Mapping[tuple[str, str, str], Sequence[float]]) -> dict[Place, Any]:
    """From samples by name, host and source, of four seconds."""
    rows = pd.DataFrame(
        [(n, *key, one) for key, of_key in values.items() for n, one in enumerate(of_key)],
        columns=["second", "name", "host", "source", "value"],
    ).dropna()
    none = dict.fromkeys(
        (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES, tables.NODES, tables.REGIONS)
    )
    devices = {**none, tables.DEVICE_SERIES: pa.Table.from_pandas(rows, preserve_index=False)}
    return dict(sampled(Seconds(0, 4), devices, ()))


def test_calls_beyond_the_operations_are_those_of_others() -> None:
    done = np.array([300.0, 300.0, 20.0, 300.0])
    # a stall of the servers (second 2) is no call of anybody; 150 calls more in second 3 are
    found = {
        SERVERS[0]: np.array([140.0, 160.0, 10.0, 250.0]),
        SERVERS[1]: np.array([160.0, 140.0, 10.0, 200.0]),
        Place("namenode_calls", "h1", "m1/namenode"): np.full(4, 90.0),
    }
    ((place, share),) = calls_of_others(done, found)
    assert place.quantity == "other_calls" and not place.host
    assert share == pytest.approx([0.0, 0.0, 0.0, 50.0])
    unknown = {**found, SERVERS[1]: np.array([160.0, np.nan, 10.0, 200.0])}
    ((_, share),) = calls_of_others(done, unknown)
    assert np.isnan(share[1])
    assert not list(calls_of_others(done, {}))


def test_a_client_is_silent_while_its_histogram_is_due() -> None:
    rows = [("ycsb-1", 100.0 + n, 1.0) for n in range(4)]
    # stopped from 104.5 to 107.5: the interval that was open lasts 4 s
    rows += [("ycsb-1", 104.0, 4.0), ("ycsb-1", 108.0, 1.0), ("ycsb-1", 109.0, 1.0)]
    rows += [("ycsb-2", 100.0 + n, 1.0) for n in range(10)]
    rows += [("ycsb-1", 104.0, 0.0)] * 9  # in turns of another trial
    intervals = pd.DataFrame(rows, columns=["client", "begun_s", "length_s"])
    found = dict(silent_client(Seconds(2, 8), intervals, start_s=100.0))
    silent = found[Place("client_silent", "", "ycsb-1")]
    assert silent == pytest.approx([0, 0, 0, 100, 100, 100, 0, 0])
    assert not found[Place("client_silent", "", "ycsb-2")].any()


def test_time_that_no_server_spent_is_between_it_and_the_client() -> None:
    """100 calls a second of 5 ms each in the servers; operations take 8 ms, then 60 ms."""
    rows = [
        ("closed-loop", 100.0 + n, 1.0, 100, 1000.0 * 100 * ms) for n, ms in enumerate((8, 8, 60))
    ]
    rows += [("intended", 102.0, 1.0, 100, 9e9), ("closed-loop", 103.0, 1.0, 0, 0.0)]
    logged = pd.DataFrame(rows, columns=["kind", "begun_s", "length_s", "operations", "time_us"])
    nan = float("nan")
    found = {
        Place(name, *server[1:]): np.array(values)
        for server in SERVERS
        for name, values in (
            ("calls", [50.0] * 4), ("process_time", [4.0, nan, 4.0, 4.0]), ("queue_time", [1.0] * 4),
        )
    }  # fmt: skip
    ((place, outside),) = outside_servers(*within_operations(Seconds(0, 4), logged, 100.0), found)
    assert (place.quantity, place.host) == ("outside_time", "")
    assert outside[:3] == pytest.approx([3.0, 3.0, 55.0]) and np.isnan(outside[3])
    assert not list(
        outside_servers(*within_operations(Seconds(0, 4), logged, 100.0), {})
    )  # unknown


def test_a_disk_that_writes_later_what_datanodes_wrote_has_no_other_writer() -> None:
    disk = np.array([0.0, 0.0, 90.0, 10.0, 50.0])
    own = {Place("datanode_written", "h1", f"w{n}/datanode"): np.array([30.0, 20.0, 0, 0, 0])
           for n in (1, 2)}  # fmt: skip
    found = {Place("disk_write", "h1"): disk, Place("disk_write", "h2"): disk, **own}
    ((place, beyond),) = writes_of_others(found)  # nobody knows what is written on h2
    assert place == Place("other_writes", "h1")
    assert beyond == pytest.approx([0, 0, 0, 0, 50])


def test_handlers_beyond_the_clients_threads_work_for_others() -> None:
    found = {
        Place("active_handlers", "h", f"w{n}/regionserver-1"): np.array(values)
        for n, values in enumerate(([3.0, 30.0, np.nan], [1.0, 2.0, 4.0]))
    }
    ((place, beyond),) = handlers_of_others(8, found)
    assert (place.quantity, place.words) == ("handlers_of_others", "the RegionServers")
    assert list(beyond[:2]) == [0.0, 24.0] and np.isnan(beyond[2])  # unknown is no number
    assert not list(handlers_of_others(8, {}))


def test_threads_are_busy_for_the_time_of_their_operations() -> None:
    """8 threads; operations of 2 ms, then of 80 ms: 100 a second are all that they can do."""
    rows = [("closed-loop", 100.0 + n, 1.0, 100, 1000.0 * 100 * ms) for n, ms in enumerate((2, 80))]
    rows += [("intended", 100.0, 1.0, 100, 9e9)]
    logged = pd.DataFrame(rows, columns=["kind", "begun_s", "length_s", "operations", "time_us"])
    ((place, busy),) = busy_threads(within_operations(Seconds(0, 3), logged, 100.0)[0], 8)
    assert (place.quantity, place.host) == ("client_threads", "")
    assert busy[:2] == pytest.approx([2.5, 100.0]) and np.isnan(busy[2])


def _hdfs(
    datanodes: Sequence[float], read: Sequence[float], **servers: Sequence[float]
) -> dict[Place, Any]:
    none = np.zeros(len(read))
    usual = {"wal_syncs": none, "log_written": none, "flush_written": none, "compacted": none,
             "compaction_written": none, "cache_lookups": none, "cache_hits": none}  # fmt: skip
    rows = {**usual, **{name: np.array(of) for name, of in servers.items()}}
    found = {Place(name, "h1", "w1/regionserver"): of for name, of in rows.items()}
    found[Place("datanode_written", "h1", "w1/datanode")] = np.array(datanodes)
    found[Place("datanode_read", "h1", "w1/datanode")] = np.array(read)
    return found


def test_what_no_regionserver_wrote_or_read_is_of_other_clients_of_hdfs() -> None:
    """Two replicas of 1 MiB/s of log; a flush of 10 MiB, counted when it ends; 100 MiB of somebody else."""
    still = [0.0] * 5
    own = {"log_written": [1.0] * 5, "flush_written": [0, 0, 10.0, 0, 0]}
    found = _hdfs([2.0, 12.0, 12.0, 102.0, 2.0], still, **own)
    (writes, reads) = hdfs_of_others(found, 2)
    assert writes[0].quantity == "hdfs_writes_of_others"
    assert writes[1] == pytest.approx([0, 0, 0, 100, 0])
    assert reads[1] == pytest.approx(still)
    # 100 lookups a second of which half miss, by reads of 64 KiB; then 90 MiB that no lookup explains
    lookups = {"cache_lookups": [100.0] * 5, "cache_hits": [50.0] * 5}
    (_, reads) = hdfs_of_others(_hdfs(still, [3.0, 3.0, 93.0, 3.0, 3.0], **lookups), 2)
    assert reads[1][[0, 1, 3, 4]] == pytest.approx(np.zeros(4))
    assert 70 < reads[1][2] < 90
    # a server whose log nobody measured: unknown
    del found[Place("log_written", "h1", "w1/regionserver")]
    assert not list(hdfs_of_others(found, 2))


def test_a_job_has_its_share_of_what_datanodes_moved() -> None:
    about = {"mode": "write", "asked_bytes": 100 * 2**20, "replication": 3, "compression": None,
             "erasure_coding": None}  # fmt: skip
    own = {Place("datanode_written", "h1", "w1/datanode"): np.array([100.0, 200.0, np.nan])}
    assert own_share(about, own) == 1.0
    others = {**own, Place("datanode_read", "h1", "w2/datanode"): np.array([100.0, 200.0, 0.0])}
    assert own_share(about, others) == pytest.approx(0.5)
    assert own_share({**about, "mode": "read"}, own) == pytest.approx(1 / 3)
    for unknown in ({"mode": "skip"}, {"compression": "gzip"}, {"asked_bytes": None}):
        assert own_share({**about, **unknown}, others) == 1.0
    assert own_share(about, {}) == 1.0


def test_regions_that_come_or_leave_have_moved_and_losses_are_of_what_is_sent() -> None:
    values = {
        ("regions", "h1", "w1/regionserver"): [3.0, 3.0, 0.0, 0.0],
        ("regions", "h1", "w2/regionserver"): [3.0, 3.0, 6.0, 6.0],
        ("retransmitted", "h1", "host"): [1.0, 1.0, 30.0, 1.0],
        ("sent_segments", "h1", "host"): [100.0, 100.0, 3000.0, 100.0],
    }
    found = _sampled(values)
    for server in ("w1", "w2"):
        moved = found[Place("regions_moved", "h1", f"{server}/regionserver")]
        assert moved[1:] == pytest.approx([0.0, 3.0, 0.0]) and np.isnan(moved[0])
    # a burst of traffic that loses as little as usual is no loss
    assert found[Place("resent_share", "h1")] == pytest.approx([1.0, 1.0, 1.0, 1.0])


def test_a_server_that_is_watched_and_flushes_nothing_has_zeros() -> None:
    found = _sampled({("flush_queue", "h1", "w1/regionserver"): [0.0, 1.0, 1.0, 0.0]})
    for activity in ("flushing", "compacting"):
        assert found[Place(activity, "", "w1/regionserver")].tolist() == [0.0] * 4
    other = _sampled({("xceivers", "h1", "w1/datanode"): [1.0] * 4})
    assert not any(place.quantity == "flushing" for place in other)


def test_a_gauge_that_an_answer_fills_in_is_no_answer() -> None:
    nan = float("nan")
    values = {
        # stopped in seconds 1 and 2: the answer of second 3 says what the gauge was meanwhile
        ("calls", "h1", "w1/regionserver"): [90.0, nan, nan, 270.0],
        ("memstore", "h1", "w1/regionserver"): [1.0, nan, 1.3, 1.3],
        ("calls", "h1", "w2/regionserver"): [90.0, 90.0, 90.0, 90.0],
        ("regions_in_transition", "h1", "m1/hmaster"): [0.0, 0.0, nan, 0.0],
        # what is seen from outside is no answer
        ("logged", "h1", "w1/regionserver"): [0.0, 0.0, 0.0, 0.0],
    }
    found = _sampled(values)
    assert list(found[Place("silent", "h1", "w1/regionserver")]) == [0, 100, 100, 0]
    assert not found[Place("silent", "h1", "w2/regionserver")].any()
    assert list(found[Place("silent", "h1", "m1/hmaster")]) == [0, 0, 100, 0]


def test_a_share_of_few_is_no_news_of_a_trial_that_hardly_ran() -> None:
    hits, lookups = (
        Place(name, "h1", "w1/regionserver") for name in ("cache_hits", "cache_lookups")
    )

    def course(of_hits: float, of_lookups: float, rate: float) -> Course:
        rows = {hits: np.full(20, of_hits), lookups: np.full(20, of_lookups)}
        return Course(0, np.full(20, rate), np.full(20, 9.0), series=Series.of(rows, 20))

    usual = [course(96.0 + n / 10, 100.0, 300.0 + n) for n in range(6)]
    cause = Cause(rules()["cache-misses"], (hits,), "")
    assert Group.of([*usual, course(60.0, 4.0, 12.0)]).is_of_few(6, cause)
    assert not Group.of([*usual, course(60.0, 90.0, 270.0)]).is_of_few(6, cause)
    assert not Group.of([course(60.0, 4.0, 12.0)]).is_of_few(0, cause)
