"""Courses of trials from the tables that ingest writes, and the rows that come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from density_study.analysis.explanation.course import Course, Place
from density_study.analysis.explanation.explain import explained
from density_study.analysis.explanation.read import courses
from density_study.analysis.explanation.slow import slow_spells
from density_study.workloads import tables
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema, arrow_table
from density_study.workloads.tables.store import read_table, write_arrow

SECONDS = range(-2, 42)
COUNT = 6
"""Trials of one test case on one topology; the last is slow, and its second host reads slowly."""
SLOW = f"t{COUNT}"


def _write(run: Path, table: Table, rows: list[dict[str, Any]]) -> None:
    write_arrow(run, table, arrow_table(table, rows))


def _monitor(trial: str, kind: str = "disks") -> dict[str, Any]:
    return {"trial": trial, "kind": kind, "host": "h1"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    names = [f"t{n}" for n in range(1, COUNT + 1)]
    _write(tmp_path, tables.TRIALS, [
        {"trial": name, "topology": "v1", "test_case": "a", "workload": "ycsb", "warm_up_s": 5.0,
         "window_start_epoch_s": 1000.0, "window_end_epoch_s": 1040.0}
        for name in names
    ])  # fmt: skip
    _write(tmp_path, tables.MONITORS, [_monitor(name) for name in names])
    rng = np.random.default_rng(0)
    _write(tmp_path, tables.OPERATION_SECONDS, [
        {"trial": name, "second": s, "operations": (500 if name == SLOW else 1000) * rng.normal(1, 0.02)}
        for name in names for s in range(40)
    ])  # fmt: skip
    _write(tmp_path, tables.TRIAL_CPU_SERIES, [
        {"trial": name, "host": host, "scope": scope, "second": s, "cpu_user": user, "cpu_system": 5.0,
         "cpu_iowait": 1.0, "cpu_steal": None, "cpu_irq": 0.0, "cpu_idle": 100.0 - 6.0 - user}
        for name in names for host in ("h1", "h2") for s in SECONDS
        for scope, user in ((f"host:{host}", 40.0), (f"node:w{host[1]}", 20.0), ("client", 5.0))
    ])  # fmt: skip
    _write(tmp_path, tables.NODES, [
        {"trial": name, "node": "c", "host": "h1", "scope": "client", "roles": ["client"], "cores": 2,
         "host_cores": 16}
        for name in names
    ])  # fmt: skip
    _write(tmp_path, tables.DEVICE_SERIES, [
        {"trial": name, "host": host, "device": "disks", "source": "sda", "name": "read_await", "unit": "ms",
         "second": s, "value": (90.0 if name == SLOW and host == "h2" else 4.0) * rng.normal(1, 0.05)}
        for name in names for host in ("h1", "h2") for s in SECONDS
    ] + [
        {"trial": name, "host": "h1", "device": "jmx", "source": source, "name": "queue_time", "unit": "ms",
         "second": s, "value": 1.0}
        for name in names for source in ("m/namenode", "w1/regionserver-1") for s in SECONDS
        if not (source.startswith("w1") and s in (20, 21))
    ])  # fmt: skip
    _write(tmp_path, tables.REGIONS, [
        {"trial": name, "region": f"r{n}", "start_key": f"user{n}", "server": f"s{n % 2}",
         "requests": n * 100}
        for name in names for n in range(1, 5)
    ])  # fmt: skip
    return tmp_path


def _course(run: Path, trial: str = "t1") -> Course:
    return dict(courses(run, read_table(run, tables.TRIALS)))[trial]


def test_a_course_begins_after_the_ramp_up_and_ends_before_the_clients(run: Path) -> None:
    course = _course(run)
    assert course.seconds == range(5, 39)
    assert course.rate.mean() == pytest.approx(1000, rel=0.02)
    assert course.values.shape == (len(course.series.places), 34)


def test_hosts_and_client_are_read_from_the_default_monitors(run: Path) -> None:
    found = dict(zip(_course(run).series.places, _course(run).series.means, strict=True))
    assert found[Place("cpu_used", "h1")] == pytest.approx(45.0)
    assert found[Place("iowait", "h2")] == 1.0
    # 45 % in all, 25 % of the node and 10 % of the client
    assert found[Place("other_programs", "h1")] == pytest.approx(10.0)
    assert found[Place("client_cpu", "h1")] == pytest.approx(80.0)  # 10 % of 16 cores, of its 2


def test_a_daemon_that_does_not_answer_is_silent_and_the_namenode_is_no_server(run: Path) -> None:
    course = _course(run)
    rows = dict(zip(course.series.places, course.values, strict=True))
    silent = rows[Place("silent", "h1", "w1/regionserver-1")]
    assert list(np.flatnonzero(silent == 100) + course.first) == [20, 21]
    assert not rows[Place("silent", "h1", "m/namenode")].any()
    assert Place("namenode_queue_time", "h1", "m/namenode") in rows
    assert Place("queue_time", "h1", "m/namenode") not in rows


def test_shares_of_regions_and_servers_are_facts(run: Path) -> None:
    series = _course(run).series
    facts = dict(zip(series.places, series.means, strict=True))
    assert facts[Place("region_share", "", "the region from user4")] == pytest.approx(40.0)
    assert facts[Place("region_excess", "", "the region from user4")] == pytest.approx(1.6)
    assert facts[Place("server_requests", "", "s0")] == pytest.approx(60.0)
    assert facts[Place("server_excess", "", "s0")] == pytest.approx(1.2)


def test_the_trial_that_is_slow_among_its_equals_has_its_cause(run: Path) -> None:
    found = explained(run)
    causes = found[tables.TRIAL_CAUSES]
    assert set(causes["trial"]) == {SLOW}
    first = causes[causes["rank"] == 1].iloc[0]
    assert (first["cause"], first["where"], first["lasting"]) == ("slow-disk", "sda on h2", True)
    assert "the rate is 50 % below that of the 5 other trials" in first["sentence"]
    assert first["remedy"]
    means = found[tables.SERIES_MEANS].set_index(["trial", "name"])
    assert means.loc[(SLOW, "read_await"), "most"] == pytest.approx(90, rel=0.05)
    assert means.loc[(SLOW, "read_await"), "where"] == "sda on h2"
    for table, rows in found.items():  # as pipeline.series writes them
        pa.Table.from_pandas(
            rows[arrow_schema(table).names], arrow_schema(table), preserve_index=False
        )


def test_a_testdfsio_job_is_explained_by_what_its_disks_did(run: Path) -> None:
    _write(run, tables.TRIALS, [
        {"trial": "d", "topology": "v1", "test_case": "w", "workload": "testdfsio", "warm_up_s": 0.0,
         "window_start_epoch_s": 1000.0, "window_end_epoch_s": 1040.0}
    ])  # fmt: skip
    moved = {"disk_write_bytes_s": 2.0**20, "net_receive_bytes_s": 0.0, "net_send_bytes_s": 0.0}
    _write(run, tables.HOST_DISK_SERIES, [
        {"trial": "d", "host": host, "second": s, "disk_read_bytes_s": 2.0**22, **moved}
        for host in ("h1", "h2") for s in range(40) if s != 7
    ])  # fmt: skip
    course = _course(run, "d")
    assert (course.unit, len(course.rate)) == ("MiB/s", 40)
    assert list(course.rate) == [10.0] * 40  # a second without a sample is no stall
    assert np.isnan(course.worst_ms).all()


def test_a_job_is_not_slow_between_two_waves_of_its_maps(run: Path) -> None:
    """Two maps, then two more; each JVM starts for 4 s, and in its work a disk stands still for 2 s."""
    _write(run, tables.TRIALS, [
        {"trial": "d", "topology": "v1", "test_case": "w", "workload": "testdfsio", "warm_up_s": 0.0,
         "window_start_epoch_s": 1000.0, "window_end_epoch_s": 1040.0}
    ])  # fmt: skip
    still = {0, 1, 2, 3, 18, 19, 20, 21, 29, 30, 36, 37, 38, 39}
    _write(run, tables.HOST_DISK_SERIES, [
        {"trial": "d", "host": "h1", "second": s, "disk_read_bytes_s": 0.0,
         "disk_write_bytes_s": 0.0 if s in still else 2.0**22, "net_receive_bytes_s": 0.0,
         "net_send_bytes_s": 0.0}
        for s in range(40)
    ])  # fmt: skip
    _write(run, tables.DFSIO_IO, [
        {"trial": "d", "file": f"part-{n}", "tasks": 2, "bytes": 1, "task_ms": 28_000} for n in (1, 2)
    ])  # fmt: skip
    _write(run, tables.MAP_ATTEMPTS, [
        {"trial": "d", "job": "j", "attempt": f"{begun}-{n}", "status": "SUCCEEDED", "node": "w1",
         "start_epoch_s": 1000.0 + begun, "finish_epoch_s": 1018.0 + begun}
        for begun in (0, 18) for n in (1, 2)
    ] + [{"trial": "d", "job": "j", "attempt": "lost", "start_epoch_s": 1000.0}])  # fmt: skip
    (spell,) = slow_spells(_course(run, "d"))
    assert (spell.first, spell.last) == (29, 30)
    unended = [{"trial": "d", "job": "j", "attempt": "lost", "start_epoch_s": 1000.0}]
    for unknown in (unended, []):
        _write(run, tables.MAP_ATTEMPTS, unknown)
        assert [one.first for one in slow_spells(_course(run, "d"))] == [18, 29]  # nobody knows


def test_where_regions_lie_is_nothing_to_a_job(run: Path) -> None:
    series = {
        "host": "h1",
        "device": "jmx",
        "source": "w1/regionserver",
        "name": "locality",
        "unit": "%",
    }
    rows = [{"trial": "t1", "second": s, "mean": 50.0, **series} for s in range(40)]
    _write(run, tables.DEVICE_SERIES, rows)
    place = Place("locality", "h1", "w1/regionserver")
    assert place in _course(run, "t1").series.places
    _write(run, tables.TRIALS, [
        {"trial": "t1", "topology": "v1", "test_case": "w", "workload": "testdfsio", "warm_up_s": 0.0,
         "window_start_epoch_s": 1000.0, "window_end_epoch_s": 1040.0}
    ])  # fmt: skip
    _write(run, tables.OPERATION_SECONDS, [])
    moved = {"disk_write_bytes_s": 2.0**20, "net_receive_bytes_s": 0.0, "net_send_bytes_s": 0.0}
    _write(run, tables.HOST_DISK_SERIES, [
        {"trial": "t1", "host": "h1", "second": s, "disk_read_bytes_s": 2.0**22, **moved} for s in range(40)
    ])  # fmt: skip
    assert place not in _course(run, "t1").series.places


def test_a_trial_without_operations_has_no_course(run: Path) -> None:
    _write(run, tables.OPERATION_SECONDS, [])
    assert dict(courses(run, read_table(run, tables.TRIALS))) == {}
    assert all(rows.empty for rows in explained(run).values())


def test_a_record_without_devices_is_not_explained(run: Path) -> None:
    _write(run, tables.MONITORS, [_monitor("t1", "dool")])
    assert all(rows.empty for rows in explained(run).values())


def test_hosts_have_the_roles_of_their_nodes(run: Path) -> None:
    _write(run, tables.NODES, [
        {"trial": "t1", "node": node, "host": host, "scope": f"node:{node}", "roles": roles, "cores": 2,
         "host_cores": 16}
        for node, host, roles in (
            ("m", "h1", ["master"]), ("w", "h1", ["worker"]), ("c", "h2", ["client"]), ("z", "h3", None),
        )
    ])  # fmt: skip
    assert _course(run).roles == {
        **{"m": "master", "w": "worker", "c": "client", "z": ""},
        **{"h1": "worker", "h2": "client", "h3": ""},
    }


def test_waits_and_limits_are_shares_of_the_cores(run: Path) -> None:
    """Of 16 cores, and of the 2 that the node may use: on a larger host the same milliseconds are less."""
    _write(run, tables.NODES, [
        {"trial": "t1", "node": "w", "host": "h1", "scope": "node:w", "roles": ["worker"], "cores": 2,
         "host_cores": 16}
    ])  # fmt: skip
    _write(run, tables.DEVICE_SERIES, [
        {"trial": "t1", "host": "h1", "device": "x", "source": source, "name": name, "unit": "percent",
         "second": s, "value": 80.0}
        for source, name in (("host", "run_delay"), ("w", "throttled"), ("gone", "throttled"))
        for s in SECONDS
    ])  # fmt: skip
    course = _course(run)
    found = dict(zip(course.series.places, course.series.means, strict=True))
    assert found[Place("run_delay", "h1")] == pytest.approx(5.0)
    assert found[Place("throttled", "h1", "w")] == pytest.approx(40.0)
    assert np.isnan(found[Place("throttled", "h1", "gone")])  # nobody knows its cores


def test_losses_are_shares_of_what_is_usually_sent(run: Path) -> None:
    _write(run, tables.DEVICE_SERIES, [
        {"trial": "t1", "host": "h1", "device": "sockets", "source": "w", "name": name, "unit": "1/s",
         "second": s, "value": value * (0.1 if s == 20 and name == "sent_segments" else 1.0)}
        for name, value in (("retransmitted", 3.0), ("sent_segments", 60.0)) for s in SECONDS
    ])  # fmt: skip
    course = _course(run)
    found = dict(zip(course.series.places, course.values, strict=True))
    assert found[Place("resent_share", "h1", "w")] == pytest.approx(np.full(34, 5.0))


def test_flushes_and_compactions_are_shares_of_seconds(run: Path) -> None:
    _write(run, tables.DEVICE_EVENTS, [
        {"trial": "t1", "host": "h1", "device": "jmx", "source": "w1/regionserver-1", "line": 1,
         "kind": kind, "start_s": 20.5, "end_s": 22.0, "what": "1.5 s"}
        for kind in ("flush", "gc pause")
    ])  # fmt: skip
    course = _course(run)
    found = dict(zip(course.series.places, course.values, strict=True))
    share = found[Place("flushing", "", "w1/regionserver-1")]
    assert list(share[14:19]) == [0, 50, 100, 0, 0]
    assert [event.kind for event in course.events] == ["gc pause"]


def test_the_handlers_of_the_clients_are_as_many_as_all_their_threads(run: Path) -> None:
    """Of 6 threads in 3 clients, 18 handlers counted as theirs: calls of others were missed."""
    trials = read_table(run, tables.TRIALS)
    about = {**trials.iloc[0].to_dict(), "threads": 6.0, "clients": 3.0}
    _write(run, tables.DEVICE_SERIES, [
        {"trial": "t1", "host": "h1", "device": "jmx", "source": "w1/regionserver-1",
         "name": "active_handlers", "unit": "count", "second": s, "value": 20.0}
        for s in SECONDS
    ])  # fmt: skip
    _write(run, tables.YCSB_HISTOGRAMS, [
        {"trial": "t1", "client": "ycsb-1", "operation": "READ", "kind": "closed-loop", "begun_s": 1000.0 + s,
         "length_s": 1.0, "operations": 1000, "value_us": [900], "counts": [1000], "time_us": 9e5,
         "counted": 1000, "measured": True, "file": "f", "line": s}
        for s in range(40)
    ])  # fmt: skip
    ((_, course),) = courses(run, pd.DataFrame([about]))
    beyond = dict(zip(course.series.places, course.values, strict=True))
    assert set(beyond[Place("handlers_of_others", "", "the RegionServers")]) == {14.0}
