"""Accumulo with two tablet servers as the store of a study; a server killed, and a run: nothing is left."""

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
    running,
    servers_of,
    servers_were_warmed_up,
)
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, operations_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("accumulo.yaml")
STORE = store_named("accumulo")
SERVER = "accumulo.tserver.TabletServer"
MAINS = (SERVER, "accumulo.manager.Manager", "accumulo.gc.SimpleGarbageCollector")


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    all_rows_are_accounted_for(done)


def test_scans_are_in_the_mix_that_has_them(done: Measured) -> None:
    run, manifests = done
    for name in manifests:
        assert ("SCAN" in operations_of(run, name)) is ("half-scans" in name)


def test_tablets_are_spread_evenly_and_durability_is_what_the_table_says(done: Measured) -> None:
    _, manifests = done
    for manifest in manifests.values():
        state, disclosed = manifest.state_after["store"], manifest.disclosure["store"]
        assert (state["tablets"], state["tablets_most"]) == (20, 10)
        assert state["durability"] == "flush"
        assert (disclosed["name"], disclosed["durability"]) == ("Accumulo", "page_cache")
        assert disclosed["version"] == "2.1.4" and len(disclosed["sha256"]) == 64
        assert set(manifest.disclosure["stacks"]) >= {"hadoop", "hbase"}


def test_the_settled_table_was_compacted_and_compactions_are_counted(done: Measured) -> None:
    _, manifests = done
    runs = {name: m.state_before["store"]["background_runs"] for name, m in manifests.items()}
    assert all((count == 0) is ("ycsb-load" in name) for name, count in runs.items())


def test_servers_were_warmed_up(done: Measured) -> None:
    servers_were_warmed_up(done)


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []


def test_a_tablet_server_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    error = killed_in_bring_up(tmp_path, STORE, SERVER, "tserver.log")
    assert (error.daemon, "'w2'" in error.where) == ("tserver", True)
    assert "tserver.log" in error.log_tail


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Path, tag: str) -> None:
        found = [one for main in MAINS for one in running(servers_of(tag), main)]
        assert (len(found), listening(found)) == (4, {"127.0.0.1"})

    reaped = reaped_after_kill_9(tmp_path, STORE, monkeypatch, look, ("accumulo",))
    # ZooKeeper, NameNode, ResourceManager, manager, collector; DataNode, NodeManager, tablet server of each
    assert processes_of(reaped) == 5 + 2 * 3
