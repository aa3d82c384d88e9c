"""Readiness depends on each service's own status; a monitor detects dead daemons."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from density_study.cluster.lifecycle.startup_monitor import StartupMonitor
from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.store import store_named, stores
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.stores import answers as answers_module
from density_study.cluster.stores.hadoop import hdfs_seen, yarn_seen
from density_study.cluster.stores.hbase.store import HBase, hbase_seen
from density_study.cluster.stores.kudu.store import kudu_answer
from density_study.cluster.stores.store import cluster_store, render, store_of
from tests.support.topologies import blueprint, local, with_variant

HBASE = {"numRegionServers": 2, "tag.isActiveMaster": "true", "masterFinishedInitializationTime": 5}


@pytest.mark.parametrize(
    ("beans", "ready"),
    [
        ({"NumLiveDataNodes": 2, "FSState": "Operational"}, True),
        ({"NumLiveDataNodes": 1, "FSState": "Operational"}, False),
        ({"NumLiveDataNodes": 2, "FSState": "safeMode"}, False),
    ],
)
def test_hdfs(beans: dict[str, Any], ready: bool) -> None:
    assert hdfs_seen(beans, 2).ready is ready


def test_yarn() -> None:
    assert yarn_seen({"NumActiveNMs": 2}, 2).ready
    assert yarn_seen({"NumActiveNMs": 1}, 2).state == "1 of 2 NodeManagers running"


@pytest.mark.parametrize(
    ("beans", "ready"),
    [
        (HBASE, True),
        (HBASE | {"numRegionServers": 1}, False),
        (HBASE | {"tag.isActiveMaster": "false"}, False),
        (HBASE | {"masterFinishedInitializationTime": 0}, False),
    ],
)
def test_hbase(beans: dict[str, Any], ready: bool) -> None:
    assert hbase_seen(beans, 2).ready is ready


@pytest.mark.parametrize(
    ("store", "said", "ready"),
    [
        ("redis", b"+PONG\r\n", True),
        ("redis", b"-LOADING data\r\n", False),
        ("redis-cluster", b"$20\r\ncluster_state:ok\r\n\r\n", True),
        ("redis-cluster", b"$22\r\ncluster_state:fail\r\n\r\n", False),
        ("redis-cluster", b"-ERR no cluster_state:ok here\r\n", False),
        ("accumulo", b"\0\0\0\x24\x82\x41\0\x0dgetZooKeepers\x08\0\x0f127.0.0.1:21009\0", True),
        ("accumulo", b"\0\0\0\x24\x82\x61\0\x0dgetZooKeepers\x18..", False),  # an exception
        ("cassandra", b"\x84\0\0\0\x06\0\0\0\x02..", True),  # SUPPORTED
        ("cassandra", b"\x84\0\0\0\0\0\0\0\x02..", False),  # ERROR
        ("cassandra", b"", False),
    ],
)
def test_a_store_is_ready_when_it_gives_the_right_answer(
    store: str, said: bytes, ready: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        assert (
            cluster_store(store_named(store)).answer(f"127.0.0.1:{server.getsockname()[1]}").ready
            is ready
        )
        thread.join()


def test_a_node_of_a_store_is_named_when_it_is_late(fake: Fake, tmp_path: Path) -> None:
    placed = with_variant(local(), store=store_named("cassandra", "synced"))
    rendered = render(blueprint(placed))
    late = store_of(placed).readiness(placed, rendered.endpoints)[1]
    watching = watch(fake, tmp_path)
    watching.nodes = {node.name: node for node in placed.nodes}
    watching.running = {
        ProcessId(one.node, one.name, 1, number): one for number, one in enumerate(rendered.daemons)
    }
    with pytest.raises(BringUpError) as caught:
        watching.fail_overdue(late.daemon, late.check().state)
    assert caught.value.where == "cassandra on node 'w2'"


@pytest.mark.parametrize(
    "name", sorted(one for one, kind in stores().items() if kind.built and not kind.embedded)
)
def test_services_are_asked_in_the_network_of_their_build(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster on this machine has a network of its own, where 127.0.0.1 is another one."""
    asked: list[str] = []

    def refuse(_: object, network: str = "", *more: object) -> Any:
        asked.append(network)
        raise ConnectionRefusedError

    def refused(network: str, *_: object) -> Any:
        return refuse("", network)

    monkeypatch.setattr(answers_module, "Connection", refuse)
    monkeypatch.setattr(answers_module, "connect", refused)
    placed = with_variant(local(), store=store_named(name, "synced"))
    points = replace(render(blueprint(placed)).endpoints, network="own")
    services = store_of(placed).readiness(placed, points)
    assert services and not any(one.check().ready for one in services)
    assert set(asked) == {"own"}


def test_accumulo_is_ready_with_its_hdfs_and_yarn() -> None:
    placed = with_variant(local(servers=0), store=store_named("accumulo"))
    rendered = render(blueprint(placed))
    names = [service.name for service in store_of(placed).readiness(placed, rendered.endpoints)]
    assert names == ["hdfs", "yarn", "w1/tserver", "w2/tserver"]
    assert not {"hmaster.http", "regionserver.http"} & set(rendered.endpoints.services)
    assert rendered.initialise is not None
    after = {
        one.name for one in rendered.daemons if one.starts_after == (rendered.initialise.name,)
    }
    assert after == {"manager", "gc", "tserver"}


KUDU_MASTER = {"rpc_addrs": ["127.0.0.1:21000"]}


@pytest.mark.parametrize(
    ("servers", "ready"),
    [
        ([{"rpc_addrs": ["127.0.0.1:21002"], "live": True}], {"m1", "w1"}),
        ([{"rpc_addrs": ["127.0.0.1:21002"], "live": False}], {"m1"}),
        ([], {"m1"}),
        (None, set()),
    ],
)
def test_a_server_of_kudu_is_ready_when_the_master_says_that_it_lives(
    servers: list[dict[str, Any]] | None, ready: set[str]
) -> None:
    topology = with_variant(local(), store=store_named("kudu"))
    addresses = render(blueprint(topology)).endpoints
    # before its catalog is open, the master has no such list
    entities = {"error": "not running"} if servers is None else {"tablet_servers": servers}
    asked = []

    def fetch(url: str) -> Any:
        asked.append(url)
        return {**entities, "masters": [KUDU_MASTER]}

    seen = {
        one.name: one.check() for one in store_of(topology).readiness(topology, addresses, fetch)
    }
    assert list(seen) == ["m1/kudu-master", "w1/kudu-tserver", "w2/kudu-tserver"]
    assert {name.partition("/")[0] for name, one in seen.items() if one.ready} == ready
    assert set(asked) == {"http://127.0.0.1:21001/dump-entities"}


@pytest.mark.parametrize("answer", [ConnectionRefusedError("refused"), ValueError("no JSON"), []])
def test_a_master_of_kudu_that_does_not_tell_is_not_ready(answer: object) -> None:
    def fetch(url: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert not kudu_answer(fetch, "127.0.0.1:21001", "127.0.0.1:21000").ready


def answers(value: object) -> dict[str, str]:
    """service -> its status, when every request returns `value` (or raises it, if an error)."""

    def ask(url: str) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    topology = local()
    monitored = store_of(topology).readiness(
        topology, Endpoints(HBase().endpoints(blueprint(topology))), ask
    )
    statuses = {service.name: service.check() for service in monitored}
    assert not any(each.ready for each in statuses.values())
    return {name: each.state for name, each in statuses.items()}


@pytest.mark.parametrize("value", [{"beans": []}, {"beans": [{}]}, {}, ValueError("no JSON")])
def test_missing_numbers_are_not_readiness(value: object) -> None:
    assert "metrics not available yet" in answers(value)["hbase"]


def test_no_answer_is_not_readiness() -> None:
    statuses = answers(ConnectionRefusedError("refused"))
    assert statuses["hdfs"].startswith("no answer from http://127.0.0.1:21001/jmx")


class Fake:
    """A transport with processes that live until they leave `living`."""

    def __init__(self) -> None:
        self.living: set[str] = {"namenode", "datanode", "format"}
        self.exit_code = 0

    def alive(self, process: ProcessId) -> bool:
        return process.name in self.living

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        return [process for process in processes if not self.alive(process)]

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        return self.exit_code

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        if path != to:  # like the local transport: it overwrites no existing file
            raise FileNotFoundError(path)


@pytest.fixture
def fake() -> Fake:
    return Fake()


def daemon(name: str, logs: Path) -> Daemon:
    paths = [PurePath(logs / "w1" / f"{name}.{suffix}") for suffix in ("log", "out", "err")]
    return Daemon(name, "w1", name, Command(name, ("true",)), "", *paths)


def watch(fake: Fake, logs: Path, deadline_s: float = 60) -> StartupMonitor:
    (logs / "w1").mkdir(parents=True, exist_ok=True)
    monitor = StartupMonitor(fake, {"w1": local().workers[0]}, logs, deadline_s)  # type: ignore[arg-type]
    for number, name in enumerate(("namenode", "datanode")):
        monitor.running[ProcessId("w1", name, number, number)] = daemon(name, logs)
    return monitor


def test_a_dead_daemon_is_named_with_its_last_lines(fake: Fake, tmp_path: Path) -> None:
    watching = watch(fake, tmp_path)
    watching.check_alive()
    (tmp_path / "w1" / "datanode.log").write_text("".join(f"line {n}\n" for n in range(100)))
    (tmp_path / "w1" / "datanode.err").write_text("OutOfMemoryError\n")
    fake.living.discard("datanode")
    with pytest.raises(BringUpError) as caught:
        watching.check_alive()
    error = caught.value
    assert (error.daemon, error.where) == ("datanode", "datanode on node 'w1'")
    assert "OutOfMemoryError" in error.log_tail
    assert "line 99" in error.log_tail
    assert "line 69" not in error.log_tail


def test_the_fatal_error_is_shown_even_if_many_lines_follow(fake: Fake, tmp_path: Path) -> None:
    watching = watch(fake, tmp_path)
    lines = [
        "2026 INFO fine",
        "2026 ERROR [main] x: no space left",
        "\tat a.b.C",
        *["2026 INFO bye"] * 200,
    ]
    (tmp_path / "w1" / "datanode.log").write_text("\n".join(lines))
    fake.living.discard("datanode")
    with pytest.raises(BringUpError) as caught:
        watching.check_alive()
    assert "no space left" in caught.value.log_tail


def test_a_daemon_that_died_without_a_log_is_named_too(fake: Fake, tmp_path: Path) -> None:
    watching = watch(fake, tmp_path)
    fake.living.discard("datanode")
    with pytest.raises(BringUpError, match="datanode died"):
        watching.check_alive()


def test_a_failed_format_is_an_error(fake: Fake, tmp_path: Path) -> None:
    watching = watch(fake, tmp_path)
    process, preparing = ProcessId("w1", "format", 9, 9), daemon("format", tmp_path)
    fake.living.discard("format")
    watching.until_ended(process, preparing)
    fake.exit_code = 1
    with pytest.raises(BringUpError, match="format exited with code 1"):
        watching.until_ended(process, preparing)


def test_a_hanging_format_times_out(fake: Fake, tmp_path: Path) -> None:
    watching = watch(fake, tmp_path, deadline_s=0.1)
    before = time.monotonic()
    with pytest.raises(BringUpError, match="format did not finish within"):
        watching.until_ended(ProcessId("w1", "format", 9, 9), daemon("format", tmp_path))
    assert time.monotonic() - before < 2


def test_a_late_service_reports_its_last_status(fake: Fake, tmp_path: Path) -> None:
    with pytest.raises(BringUpError, match="1 of 2 DataNodes live"):
        watch(fake, tmp_path).fail_overdue("namenode", "1 of 2 DataNodes live")
