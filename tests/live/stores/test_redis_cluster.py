"""Redis Cluster on three nodes as the store of a study; a killed shard, and a killed run: nothing is left."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from density_study.cluster.model.cluster import Site, read_cluster
from density_study.cluster.model.store import store_named
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.journal import Journal
from tests.live.stores.checks import all_rows_are_accounted_for, reaped_after_kill_9, servers_of
from tests.live.stores.loading import loading
from tests.live.support.command import left_of
from tests.live.support.measured import Measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("redis_cluster.yaml")


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    all_rows_are_accounted_for(done)


def test_every_shard_has_its_part_of_the_rows_and_the_durability(done: Measured) -> None:
    _, manifests = done
    for manifest in manifests.values():
        state = manifest.state_after["store"]
        assert state["shards"] == 3
        assert 0.28 * state["rows"] < state["rows_of_fewest"] <= state["rows_of_most"]
        assert state["rows_of_most"] < 0.39 * state["rows"]
        assert (state["appendonly"], state["appendfsync"]) == ("yes", "always")
        assert manifest.disclosure["store"]["durability"] == "synced"


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []


def test_a_lost_shard_fails_operations_and_after_kill_9_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(run: Path, tag: str) -> None:
        servers = servers_of(tag)
        assert len(servers) == 2
        _lose_a_shard(run, f"{tag}/b1", servers[0].pid, tmp_path)

    reaped_after_kill_9(tmp_path, store_named("redis-cluster"), monkeypatch, look)


def _lose_a_shard(run: Path, tag: str, victim: int, folder: Path) -> None:
    """A load goes on without the shard: its failed inserts are counted by kind, and the first is printed."""
    cluster = read_cluster(run / "builds" / "b1")
    journal = Journal(run / "journal.jsonl")
    transport = provider_named("local").transport(Site(run / "builds" / "b1", tag), journal)
    client, _ = loading(cluster, transport, folder)
    os.kill(victim, signal.SIGKILL)
    try:
        transport.wait(client, 60)  # YCSB ends its load at the first insert that fails
    finally:
        transport.stop(client, 0)
    assert "INSERT" in (folder / "load.err").read_text()
    assert "JedisConnectionException" in (folder / "load.err").read_text()
