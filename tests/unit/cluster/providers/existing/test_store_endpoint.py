"""Stores of others: what their servers say is held against what the study declares; nothing is taken over."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import ExistingCluster, StoreEndpoint
from density_study.cluster.model.host import Host
from density_study.cluster.model.store import Durability, Store, store_named
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.existing import endpoint, endpoint_tool
from density_study.cluster.providers.existing.endpoint import EndpointProvider
from density_study.cluster.providers.existing.placing import existing_topology
from density_study.cluster.state.journal import Journal

CLIENT = Host("here", "127.0.0.1", 2, 4096, (), ("client",))
AOF = {"appendonly": "yes", "appendfsync": "always", "version": "7"}


def topology(store: Store, replication: int = 1) -> Topology:
    where = StoreEndpoint(("10.0.0.5:6379",), replication=replication)
    return existing_topology(
        ExistingCluster("", "", "bench", "", endpoint=where), CLIENT, store=store
    )


class FakeStore:
    """Answers as StoreTool does; remembers whose the namespace is."""

    def __init__(self, facts: Mapping[str, Any], owner: str | None = None) -> None:
        self.facts, self.owner = facts, owner

    def ask(self, properties: Mapping[str, str], *commands: str) -> list[dict[str, Any]]:
        return [self._answer(properties, command) for command in commands]

    def _answer(self, properties: Mapping[str, str], command: str) -> dict[str, Any]:
        if command == "facts":
            return dict(self.facts)
        if command == "claim":
            assert self.owner is None
            self.owner = properties["tag"]
        if command == "release" and self.owner in (properties["tag"], ""):
            self.owner = None
        return {} if self.owner is None or command != "owner" else {"tag": self.owner}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeStore:
    store = FakeStore(AOF)
    monkeypatch.setattr(endpoint, "ask_store", store.ask)
    return store


@pytest.mark.parametrize(
    ("name", "facts", "level"),
    [
        ("redis", {"appendonly": "no", "appendfsync": "everysec"}, "memory"),
        ("redis", {"appendonly": "yes", "appendfsync": "everysec"}, "memory"),
        ("redis", {"appendonly": "yes", "appendfsync": "no"}, "page_cache"),
        ("redis-cluster", {"appendonly": "yes", "appendfsync": "always"}, "synced"),
        ("cassandra", {"commitlog_sync": "periodic"}, "memory"),
        ("cassandra", {"commitlog_sync": "batch"}, "synced"),
        ("cassandra", {"commitlog_sync": "group"}, "synced"),
        ("aerospike", {"commit-to-device": "false"}, "memory"),
        ("aerospike", {"commit-to-device": "true"}, "synced"),
    ],
)
def test_the_level_is_the_strongest_that_the_servers_keep(
    fake: FakeStore, name: Any, facts: dict[str, str], level: Durability
) -> None:
    fake.facts = facts
    provider = EndpointProvider()
    provider.check_existing(topology(store_named(name, level)), 100, 10.0)
    other: Durability = "synced" if level == "memory" else "memory"
    with pytest.raises(InputError, match=f"keep {level} .*, and the study declares {other}"):
        provider.check_existing(topology(store_named(name, other)), 100, 10.0)


def test_servers_that_do_not_tell_are_taken_at_the_studys_word(
    fake: FakeStore, tmp_path: Path
) -> None:
    fake.facts = {"appendonly": "unknown", "appendfsync": "unknown"}
    placed = topology(store_named("redis", "synced"))
    EndpointProvider().check_existing(placed, 100, 10.0)
    joined = EndpointProvider().join(Site(tmp_path, "s/r/b1"), placed)
    assert (joined.seen["durability"], joined.seen["durability_from"]) == ("synced", "study")
    assert joined.seen["unwatched"] == ["10.0.0.5"]
    assert "caution" not in joined.seen


def test_what_is_known_of_aerospike_is_recorded_with_its_caution(
    fake: FakeStore, tmp_path: Path
) -> None:
    fake.facts = {"commit-to-device": "unknown", "write-commit-level-override": "master"}
    placed = topology(store_named("aerospike", "synced"))
    EndpointProvider().check_existing(placed, 100, 10.0)
    seen = EndpointProvider().join(Site(tmp_path, "s/r/b1"), placed).seen
    assert (seen["durability"], seen["durability_from"]) == ("synced", "study")
    assert seen["write-commit-level-override"] == "master"
    assert "untried" in seen["caution"]
    fake.facts = {"commit-to-device": "true", "free_bytes": 99 * 2**20}
    with pytest.raises(InputError, match="99 MiB are left below its limits of used storage"):
        EndpointProvider().check_existing(placed, 100, 10.0)
    fake.facts = {"commit-to-device": "false and true"}
    with pytest.raises(InputError, match=r"servers differ .*commit-to-device false and true"):
        EndpointProvider().check_existing(placed, 100, 10.0)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"appendonly": "no and yes", "appendfsync": "always"}, "servers differ"),
        (AOF | {"free_bytes": 99 * 2**20}, "99 MiB are left below maxmemory"),
        (AOF | {"nodes": 2}, "3 replicas need as many nodes; it has 2"),
    ],
)
def test_what_the_servers_cannot_hold_is_refused(
    fake: FakeStore, facts: dict[str, Any], said: str
) -> None:
    fake.facts = facts
    with pytest.raises(InputError, match=said):
        EndpointProvider().check_existing(topology(store_named("redis", "synced"), 3), 100, 10.0)


def test_a_namespace_is_made_removed_and_proved_gone(fake: FakeStore, tmp_path: Path) -> None:
    site, journal = Site(tmp_path / "b1", "s/r/b1"), Journal(tmp_path / "journal.jsonl")
    provider, placed = EndpointProvider(), topology(store_named("redis", "synced"))
    provider.create(site, placed, journal)
    assert fake.owner == site.tag
    assert any("bench" in one for one in provider.leftovers(site, journal))
    provider.destroy(site, journal)
    assert fake.owner is None and provider.leftovers(site, journal) == ()


@pytest.mark.parametrize("owner", ["another: bench:key", "s/other/b1"])
def test_a_namespace_of_others_is_neither_taken_nor_removed(
    fake: FakeStore, tmp_path: Path, owner: str
) -> None:
    site, journal = Site(tmp_path / "b1", "s/r/b1"), Journal(tmp_path / "journal.jsonl")
    provider, placed = EndpointProvider(), topology(store_named("redis", "synced"))
    fake.owner = owner
    with pytest.raises(InputError, match="bench already"):
        provider.create(site, placed, journal)
    provider.destroy(site, journal)
    assert provider.leftovers(site, journal) == () and fake.owner == owner
    fake.owner = None
    provider.create(Site(tmp_path / "b2", "s/r/b2"), placed, journal)
    fake.owner = owner  # whoever took it meanwhile
    provider.destroy(Site(tmp_path / "b2", "s/r/b2"), journal)
    assert fake.owner == owner


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            "log4j: x\nsite.ycsb.DBException: cannot use it\n\tat a.b.C\n"
            "Caused by: redis.clients.jedis.exceptions.JedisAccessControlException: WRONGPASS bad\n",
            "JedisAccessControlException: WRONGPASS bad",
        ),
        ("Error: no class\n", "Error: no class"),
        ("", "no message"),
    ],
)
def test_the_cause_of_a_failure_is_told(
    monkeypatch: pytest.MonkeyPatch, stderr: str, said: str
) -> None:
    monkeypatch.setattr(endpoint_tool, "ensure", lambda _: None)
    monkeypatch.setattr(endpoint_tool, "classpath", lambda _: ("a.jar",))
    monkeypatch.setattr(
        subprocess, "run", lambda argv, **_: subprocess.CompletedProcess(argv, 1, "", stderr)
    )
    with pytest.raises(StudyError, match=said) as caught:
        endpoint_tool.ask_store({"admin": "x", "endpoint": "h:1"}, "facts")
    assert caught.value.where == "h:1"


def test_the_result_of_each_command_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps({"command": name, "result": {name: 1}}) for name in ("facts", "owner")]
    monkeypatch.setattr(endpoint_tool, "ensure", lambda _: None)
    monkeypatch.setattr(endpoint_tool, "classpath", lambda _: ("a.jar",))
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda argv, **_: subprocess.CompletedProcess(argv, 0, "log\n" + "\n".join(lines), ""),
    )
    assert endpoint_tool.ask_store({"x": "y"}, "facts", "owner") == [{"facts": 1}, {"owner": 1}]
