"""Redis Cluster on three nodes as the store of a study; a killed shard, and a killed run: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.cluster import Site, read_cluster
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from tests.live.stores.loading import loading
from tests.live.support.command import left_of, wait_for
from tests.live.support.measured import Measured, measured, operations_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("redis_cluster.yaml")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    run, manifests = done
    assert len(manifests) == 3
    for name, manifest in manifests.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        counts = operations_of(run, name)
        assert all(count.ok > 0 and count.failed == 0 for count in counts.values())
        before, after = manifest.state_before["store"], manifest.state_after["store"]
        inserted = counts["INSERT"].ok if "INSERT" in counts else 0
        assert after["rows"] == before["rows"] + inserted
        assert before["rows"] == (0 if "ycsb-load" in name else 2000)


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
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(tmp_path)]
    orchestrator = subprocess.Popen([*argv, "redis-cluster", "page_cache"])
    try:
        run = wait_for(tmp_path / "runs", lambda entry: entry["event"] == "build-ready", 120)
        tag = f"{run.parent.name}/{run.name}"
        servers = tagged(tag)
        assert len(servers) == 2
        _lose_a_shard(run, f"{tag}/b1", servers[0].pid, tmp_path)
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(tmp_path / "runs").reaped
    finally:
        orchestrator.kill()
        orchestrator.wait()
        reap(tmp_path / "runs")
    assert tagged(reaped.tag) == []
    assert list((tmp_path / "disk").iterdir()) == []


def _lose_a_shard(run: Path, tag: str, victim: int, folder: Path) -> None:
    """A load goes on without the shard: its failed inserts are counted by kind, and the first is printed."""
    cluster = read_cluster(run / "builds" / "b1")
    journal = Journal(run / "journal.jsonl")
    transport = provider_of("local").transport(Site(run / "builds" / "b1", tag), journal)
    client, _ = loading(cluster, transport, folder)
    os.kill(victim, signal.SIGKILL)
    try:
        transport.wait(client, 60)  # YCSB ends its load at the first insert that fails
    finally:
        transport.stop(client, 0)
    assert "INSERT" in (folder / "load.err").read_text()
    assert "JedisConnectionException" in (folder / "load.err").read_text()
