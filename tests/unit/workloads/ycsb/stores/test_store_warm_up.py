"""Servers of another store are warmed up before a build's first trial, where they have JIT compilers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.store import Store, store_named
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.state.journal import Journal
from density_study.workloads.ycsb.stores import store_warm_up
from density_study.workloads.ycsb.stores.store_warm_up import store_warmed_up
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming import servers, warm_up

CASSANDRA = store_named("cassandra", "synced")


class World:
    """Records what is done, in order."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.acts: list[str] = []
        self.shares: list[Any] = []
        cluster = SimpleNamespace(
            site=SimpleNamespace(root=folder),
            processes=(ProcessId("w1", "cassandra", 7, 77),),
            topology=SimpleNamespace(store=store, workers=(), jit="full"),
            endpoints=Endpoints({"store": {"w1/cassandra": "127.0.0.1:21000"}}),
        )
        self.context: Any = SimpleNamespace(
            cluster=cluster, journal=Journal(folder / "journal.jsonl")
        )

    def clients(self, test_case: YcsbTestCase, name: str, shares: Any) -> Any:
        self.acts.append(name)
        self.shares.append(shares)
        return []

    def trial(self, mix: Any, **knobs: Any) -> tuple[list[str], Mapping[str, float]]:
        self.acts.clear()
        known: dict[str, Any] = {"records": 9, "threads": 4, "warm_up_daemons_s": 9.0}
        if mix != "load":
            known["duration_s"] = 20.0
        test_case = YcsbTestCase(mix=mix, **known | knobs)
        warmth = store_warmed_up(
            self.context, test_case, partial(self.acts.append, "load"), self.clients
        )
        return list(self.acts), warmth


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    seconds = iter(range(100))

    def world(store: Store) -> World:
        made = World(tmp_path, store)
        tool = lambda _, __, ___, *commands: made.acts.extend(commands)  # noqa: E731
        monkeypatch.setattr(store_warm_up, "store_tool", tool)
        monkeypatch.setattr(servers, "compilers_cpu_s", lambda _: next(seconds) / 1e9)
        monkeypatch.setattr(warm_up, "run_clients", lambda *_, **__: ())
        return made

    return world


def test_a_load_is_preceded_by_inserts_once(made: Any) -> None:
    world = made(CASSANDRA)
    acts, warmth = world.trial("load")
    assert acts == ["empty", "warm-up-inserts"]
    assert warmth["compiling_share"] < 0.05
    assert world.trial("load") == ([], warmth)


def test_a_mix_is_preceded_by_itself_on_its_rows_once(made: Any) -> None:
    world = made(CASSANDRA)
    acts, warmth = world.trial("a")
    assert acts == ["empty", "load", "warm-up-mix"]
    assert warmth["compiling_share"] < 0.05
    assert world.trial("c") == ([], warmth)
    acts, _ = world.trial("c", until_steady=True)
    assert acts == ["empty", "load", "warm-up-c"]


def test_rows_that_nothing_changes_are_not_loaded_again_to_warm_up(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mix emptied the files and loaded them anew, for hours where they are larger than memory."""
    world = made(store_named("hdfs-files"))
    monkeypatch.setattr(store_warm_up, "rows_loaded", lambda *_: world.acts.append("rows"))
    for mix in ("c", "e"):
        acts, _ = world.trial(mix, until_steady=True)
        assert acts == ["rows", f"warm-up-{mix}"]


def test_a_store_without_order_is_not_warmed_up_by_scans(made: Any) -> None:
    world = made(CASSANDRA)
    world.trial("a")
    assert world.shares == [pytest.approx(
        {"read": 0.5, "update": 0.1, "insert": 0.4, "scan": 0.0, "readmodifywrite": 0.0})]  # fmt: skip


@pytest.mark.parametrize(
    ("store", "knobs"), [(store_named("redis"), {}), (CASSANDRA, {"warm_up_daemons_s": 0.0})]
)
def test_nothing_is_done_without_compilers_or_if_it_is_off(
    made: Any, store: Store, knobs: dict[str, float]
) -> None:
    assert made(store).trial("a", **knobs) == ([], {})
