"""What servers tell about themselves during a warm-up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.clients import daemon_pages
from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.store import default_store, store_named
from density_study.workloads.ycsb.warming import servers
from density_study.workloads.ycsb.warming.servers import look_at
from density_study.workloads.ycsb.warming.warmth import Blocks, Look

COMPILER = {"name": "java.lang:type=Compilation", "TotalCompilationTime": 12345}
SERVER = {
    "totalRequestCount": 700,
    "blockCacheHitCount": 90,
    "blockCacheMissCount": 10,
    "blockCacheCount": 6,
}


def context(**addresses: str) -> Any:
    endpoints = Endpoints({"regionserver.http": addresses})
    cluster = SimpleNamespace(endpoints=endpoints, topology=SimpleNamespace(store=default_store()))
    return SimpleNamespace(cluster=cluster)


def test_each_regionserver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = []

    def fetch(url: str, timeout_s: float, network: str) -> Any:
        urls.append(url)
        return {"beans": [COMPILER if "Compilation" in url else SERVER]}

    monkeypatch.setattr(daemon_pages, "fetch_json", fetch)
    look = look_at(context(w1="127.0.0.1:21019", w2="127.0.0.1:21029"), ())
    assert look == Look({"w1": 12.345, "w2": 12.345}, {"w1": 700, "w2": 700}, Blocks(180, 200, 12))
    assert "http://127.0.0.1:21019/jmx?qry=java.lang:type=Compilation" in urls


@pytest.mark.parametrize("answer", [TimeoutError("slow"), {"beans": []}, {"beans": [COMPILER]}])
def test_a_regionserver_without_an_answer_leaves_nothing_known(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After regions were moved, HBase has no metrics for half a second."""

    def fetch(url: str, timeout_s: float, network: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(daemon_pages, "fetch_json", fetch)
    assert look_at(context(w1="127.0.0.1:21019"), ()) is None


STATUS = (
    "2026-11-25 23:30:00:000 1 sec: 500 operations; 500.0 current ops/sec; est completion in 1 second\n"
    "2026-11-25 23:30:01:000 2 sec: 4000 operations; 3500.0 current ops/sec; est completion in 1 second\n"
)


def test_servers_of_other_stores_have_served_what_the_clients_did(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(servers, "compilers_cpu_s", lambda pid: float(pid))
    (tmp_path / "one.err").write_text(STATUS)
    cluster = SimpleNamespace(
        endpoints=Endpoints({"store": {"w1/cassandra": "a", "w2/cassandra": "b"}}),
        topology=SimpleNamespace(store=store_named("cassandra", "synced")),
        processes=[SimpleNamespace(pid=n, node=f"w{n}", name="cassandra") for n in (1, 2)],
    )
    one: Any = SimpleNamespace(cluster=cluster, record=SimpleNamespace(root=tmp_path))
    look = look_at(one, ("one.err", "not-yet.err"))
    assert look is not None and look.blocks is None
    assert look.compiled_s == {"w1/cassandra": 1.0, "w2/cassandra": 2.0}
    assert look.served == {"w1/cassandra": 2000.0, "w2/cassandra": 2000.0}
