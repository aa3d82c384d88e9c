"""Acknowledged writes survive kill -9 of the store where its level promises that."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from density_study.cluster.clients.client_commands import java_command
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.readiness import redis_answer
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.store import Durability, Store
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stack.store_software import CLIENTS
from density_study.workloads.ycsb.properties import MAIN
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.stores.store_tool import store_command
from tests.live.support.builds import open_build, topology

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
WRITTEN = 500


def talk(address: str, *commands: str) -> list[str]:
    """The first line of each answer of a Redis server."""
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), 10) as connection,
        connection.makefile("rwb") as stream,
    ):
        said = []
        for command in commands:
            stream.write(f"{command}\r\n".encode())
            stream.flush()
            said.append(stream.readline().decode().strip())
    return said


@pytest.mark.parametrize(("level", "kept"), [("memory", 0), ("page_cache", 1), ("synced", 1)])
def test_redis(tmp_path: Path, level: Durability, kept: int) -> None:
    placed = replace(topology(tmp_path, workers=1), store=Store("redis", level))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        stacks = ensure_stacks(placed.versions, placed.store)
        cluster = bring_up(site, placed, stacks, journal)
        (address,) = cluster.endpoints.store.values()
        writes = [f"HSET user{n} field0 value" for n in range(WRITTEN)]
        assert set(talk(address, *writes)) == {":1"}
        (process,) = cluster.processes
        argv = cluster.disclosure["daemons"]["w1/redis"]
        os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(process.pid)], timeout=10)
        transport = provider_of("local").transport(site, journal)
        again = Command("redis", tuple(argv), {}, None)
        transport.start(placed.workers[0], again, tmp_path / "out", tmp_path / "err")
        deadline = time.monotonic() + 30
        while not redis_answer(address).ready:
            assert time.monotonic() < deadline, (tmp_path / "out").read_text()
            time.sleep(0.1)
        assert talk(address, "DBSIZE") == [f":{kept * WRITTEN}"]
    finally:
        tear_down(site, journal)


@pytest.mark.parametrize(
    ("level", "kept"), [("memory", False), ("page_cache", True), ("synced", True)]
)
def test_rocksdb(tmp_path: Path, level: Durability, kept: bool) -> None:
    """The client dies in the middle of a load; its last status line says how many rows it had written."""
    placed = replace(topology(tmp_path, workers=1), store=Store("rocksdb", level))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        cluster = bring_up(site, placed, ensure_stacks(placed.versions, placed.store), journal)
        binding, transport = binding_of(cluster), provider_of("local").transport(site, journal)
        properties = {
            **binding.properties(cluster),
            "workload": "site.ycsb.workloads.CoreWorkload",
            "recordcount": "100000000",
            "fieldcount": "1",
            "status.interval": "1",
        }
        arguments = ["-db", binding.db, "-load", "-s", "-threads", "1"]
        for key, value in properties.items():
            arguments += ["-p", f"{key}={value}"]
        path = classpath(ensure(CLIENTS))
        load = java_command(cluster, "load", path, MAIN, tuple(arguments))
        err, node = tmp_path / "load.err", cluster.topology.client
        process = transport.start(node, load, tmp_path / "load.out", err)
        acknowledged, deadline = 0, time.monotonic() + 60
        while acknowledged == 0:
            assert time.monotonic() < deadline, err.read_text()
            time.sleep(0.2)
            said = re.findall(r" sec: ([0-9]+) operations;", err.read_text())
            acknowledged = int(said[-1]) if said else 0
        os.kill(process.pid, signal.SIGKILL)
        transport.wait(process, 10)
        state = store_command(cluster, "state", "usertable", "state")
        out = tmp_path / "state.out"
        done = transport.start(node, state, out, tmp_path / "state.err")
        assert transport.wait(done, 60) == 0, (tmp_path / "state.err").read_text()
        rows = int(re.findall(r'"rows": ([0-9]+)', out.read_text())[0])
        assert (rows >= acknowledged) is kept, (rows, acknowledged)
    finally:
        tear_down(site, journal)
