"""Acknowledged writes survive kill -9 of the store where its level promises that."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.store import Durability, store_named
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stores.kudu.store import kudu_environment, programs_home
from density_study.cluster.stores.store import store_of
from tests.live.stores.loading import loading, rows_left, talk, tool
from tests.live.support.builds import open_build, topology

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
WRITTEN = 500


@pytest.mark.parametrize(("level", "kept"), [("memory", 0), ("page_cache", 1), ("synced", 1)])
def test_redis(tmp_path: Path, level: Durability, kept: int) -> None:
    placed = topology(tmp_path, workers=1, store=store_named("redis", level))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        stacks = ensure_stacks(placed.variant.versions, placed.store)
        cluster = bring_up(site, placed, stacks, journal)
        (address,) = cluster.endpoints.all("store").values()
        writes = [f"HSET user{n} field0 value" for n in range(WRITTEN)]
        assert set(talk(cluster, *writes)) == {":1"}
        (process,) = cluster.processes
        argv = cluster.disclosure["daemons"]["w1/redis"]
        os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(process.pid)], timeout=10)
        transport = provider_named("local").transport(site, journal)
        again = Command("redis", tuple(argv), {}, None)
        transport.start(placed.workers[0], again, tmp_path / "out", tmp_path / "err")
        deadline = time.monotonic() + 30
        while not store_of(cluster.topology).answer(address, cluster.endpoints.network).ready:
            assert time.monotonic() < deadline, (tmp_path / "out").read_text()
            time.sleep(0.1)
        assert talk(cluster, "DBSIZE") == [f":{kept * WRITTEN}"]
    finally:
        tear_down(site, journal)


@pytest.mark.parametrize(
    ("level", "kept"), [("memory", False), ("page_cache", True), ("synced", True)]
)
def test_rocksdb(tmp_path: Path, level: Durability, kept: bool) -> None:
    """The client dies in the middle of a load; its last status line says how many rows it had written."""
    placed = topology(tmp_path, workers=1, store=store_named("rocksdb", level))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        cluster = bring_up(
            site, placed, ensure_stacks(placed.variant.versions, placed.store), journal
        )
        transport = provider_named("local").transport(site, journal)
        process, acknowledged = loading(cluster, transport, tmp_path)
        os.kill(process.pid, signal.SIGKILL)
        transport.wait(process, 10)
        rows = rows_left(cluster, transport, tmp_path)
        assert (rows >= acknowledged) is kept, (rows, acknowledged)
    finally:
        tear_down(site, journal)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "level", "kept"),
    [
        ("accumulo", "memory", False),
        ("accumulo", "page_cache", True),
        ("accumulo", "synced", True),
        ("cassandra", "memory", False),
        ("cassandra", "synced", True),
        ("kudu", "page_cache", True),
        ("kudu", "synced", True),
        ("redis-cluster", "memory", False),
        ("redis-cluster", "page_cache", True),
        ("redis-cluster", "synced", True),
    ],
)
def test_every_server_dies(tmp_path: Path, name: str, level: Durability, kept: bool) -> None:
    """In the middle of a load, and starts again. Of Accumulo: every tablet server and DataNode."""
    placed = topology(tmp_path, store=store_named(name, level))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        cluster = bring_up(
            site, placed, ensure_stacks(placed.variant.versions, placed.store), journal
        )
        transport = provider_named("local").transport(site, journal)
        tool(cluster, transport, tmp_path, "empty")
        client, acknowledged = loading(cluster, transport, tmp_path)
        hold = ("tserver", "datanode") if name == "accumulo" else ()
        victims = [one for one in cluster.processes if not hold or one.name in hold]
        for process in victims:
            os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(process.pid) for process in victims], 10)
        transport.stop(client, 0)
        environment = kudu_environment(programs_home()) if name == "kudu" else {}
        for process in victims:
            node = next(one for one in placed.nodes if one.name == process.node)
            argv = tuple(cluster.disclosure["daemons"][f"{node.name}/{process.name}"])
            logs = (tmp_path / f"{node.name}.{process.name}.{end}" for end in ("out", "err"))
            transport.start(node, Command(process.name, argv, environment, None), *logs)
        deadline = time.monotonic() + 120
        while not all(
            one.check().ready for one in store_of(placed).readiness(placed, cluster.endpoints)
        ):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        rows = rows_left(cluster, transport, tmp_path)
        assert (rows >= acknowledged) is kept, (rows, acknowledged)
    finally:
        tear_down(site, journal)
