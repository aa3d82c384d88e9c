"""Kudu on two tablet servers as the store of a study; a server killed, and its run: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.store import Store
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.events import Event, PhaseEnded
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from tests.live.support.builds import open_build, topology
from tests.live.support.command import left_of, wait_for
from tests.live.support.measured import Measured, measured, operations_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("kudu.yaml")
STORE = Store("kudu", "synced")


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


def test_servers_have_as_many_tablets_each(done: Measured) -> None:
    for manifest in done[1].values():
        state = manifest.state_before["store"]
        assert (state["tablets_of_fewest"], state["tablets_of_most"]) == (2, 2)


def test_loaded_rows_were_flushed_before_the_trial(done: Measured) -> None:
    """Each of the four tablets has some of the 2,000 rows, and so at least one flush."""
    for name, manifest in done[1].items():
        state = manifest.state_before["store"]
        assert (state["background_runs"] >= 4) is ("ycsb-load" not in name)


def test_durability_is_what_every_server_says_and_testing_only_is_disclosed(
    done: Measured,
) -> None:
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
    site, journal = open_build(tmp_path, os.getpid())

    class Killing(Journal):
        def record(self, event: Event) -> None:
            super().record(event)
            if isinstance(event, PhaseEnded) and event.name == "start":
                time.sleep(1)  # it has written its log by then
                victims = [one for one in tagged(site.tag) if one.node == "w2"]
                os.kill(victims[0].pid, signal.SIGKILL)

    placed = replace(topology(tmp_path), store=STORE)
    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, placed, ensure_stacks(store=STORE), Killing(journal.path))
    finally:
        tear_down(site, journal)
    assert (caught.value.daemon, "'w2'" in caught.value.where) == ("kudu-tserver", True)
    assert "kudu-tserver.err" in caught.value.log_tail
    assert tagged(site.tag) == []


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    before = set(Path("/tmp").glob("*"))
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(tmp_path)]
    orchestrator = subprocess.Popen([*argv, STORE.name, STORE.durability])
    try:
        run = wait_for(tmp_path / "runs", lambda entry: entry["event"] == "build-ready", 120)
        servers = tagged(f"{run.parent.name}/{run.name}")
        addresses = {
            one.laddr.ip
            for server in servers
            for one in psutil.Process(server.pid).net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }
        assert (len(servers), addresses) == (3, {"127.0.0.1"})
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(tmp_path / "runs").reaped
    finally:
        orchestrator.kill()
        orchestrator.wait()
        reap(tmp_path / "runs")
    assert len([line for line in reaped.removed if line.startswith("process")]) == 3
    assert tagged(reaped.tag) == []
    assert list((tmp_path / "disk").iterdir()) == []
    assert {path for path in set(Path("/tmp").glob("*")) - before if "kudu" in path.name} == set()
