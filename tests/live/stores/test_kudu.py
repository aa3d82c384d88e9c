"""Kudu on two tablet servers as the store of a study; a server killed, and its run: nothing is left."""

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
)
from tests.live.support.command import left_of
from tests.live.support.measured import Measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("kudu.yaml")
STORE = store_named("kudu", "synced")


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    all_rows_are_accounted_for(done)


def test_servers_have_as_many_tablets_each(done: Measured) -> None:
    for manifest in done[1].values():
        state = manifest.state_before["store"]
        assert (state["tablets_of_fewest"], state["tablets_of_most"]) == (2, 2)


def test_loaded_rows_were_flushed_before_the_trial(done: Measured) -> None:
    """Each of the four tablets has some of the 2,000 rows, and so at least one flush."""
    for name, manifest in done[1].items():
        state = manifest.state_before["store"]
        assert (state["background_runs"] >= 4) is ("ycsb-load" not in name)


def test_durability_is_what_every_server_says_and_testing_only_is_disclosed(done: Measured) -> None:
    for manifest in done[1].values():
        state, disclosed = manifest.state_after["store"], manifest.disclosure["store"]
        assert state["log_force_fsync_all"] == "true"
        assert (disclosed["name"], disclosed["durability"]) == ("Kudu", "synced")
        assert disclosed["version"] == "1.18.1" and len(disclosed["sha256"]) == 64
        assert "testing only" in disclosed["caution"]


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []


def test_a_server_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    error = killed_in_bring_up(tmp_path, STORE, "bin/kudu-tserver", "kudu-tserver.err")
    assert (error.daemon, "'w2'" in error.where) == ("kudu-tserver", True)
    assert "kudu-tserver.err" in error.log_tail


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Path, tag: str) -> None:
        servers = servers_of(tag)
        assert (len(servers), listening(servers)) == (3, {"127.0.0.1"})

    reaped = reaped_after_kill_9(tmp_path, STORE, monkeypatch, look, ("kudu",))
    assert processes_of(reaped) == 3
