"""Cassandra on two nodes as the store of a study; its nodes killed, and its run: nothing is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.store import store_named
from tests.live.stores.checks import (
    all_rows_are_accounted_for,
    killed_in_bring_up,
    listening,
    processes_of,
    reaped_after_kill_9,
    servers_of,
    servers_were_warmed_up,
)
from tests.live.support.command import left_of
from tests.live.support.measured import Measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("cassandra.yaml")
STORE = store_named("cassandra", "synced")


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    all_rows_are_accounted_for(done)


def test_durability_is_what_every_node_says(done: Measured) -> None:
    _, manifests = done
    for manifest in manifests.values():
        state, disclosed = manifest.state_after["store"], manifest.disclosure["store"]
        assert (state["commitlog_sync"], state["durable_writes"]) == ("batch", "true")
        assert (disclosed["name"], disclosed["durability"]) == ("Cassandra", "synced")
        assert disclosed["version"] == "5.0.9" and len(disclosed["sha256"]) == 64


def test_servers_were_warmed_up(done: Measured) -> None:
    servers_were_warmed_up(done)


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []


def test_a_node_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    daemon = "CassandraDaemon"
    error = killed_in_bring_up(tmp_path, STORE, daemon, "cassandra.log", says=daemon)
    assert (error.daemon, "'w2'" in error.where) == ("cassandra", True)
    assert "Cassandra" in error.log_tail


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Path, tag: str) -> None:
        nodes = servers_of(tag)
        # only the node's address: CQL, other nodes, JMX
        assert (len(nodes), listening(nodes)) == (2, {"127.0.0.1"})

    reaped = reaped_after_kill_9(tmp_path, STORE, monkeypatch, look, ("cassandra", "jna"))
    assert processes_of(reaped) == 2
