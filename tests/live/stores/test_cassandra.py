"""Cassandra on two nodes as the store of a study; its nodes killed, and its run: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
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

SPEC = Path(__file__).with_name("cassandra.yaml")
STORE = Store("cassandra", "synced")


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


def test_durability_is_what_every_node_says(done: Measured) -> None:
    _, manifests = done
    for manifest in manifests.values():
        state, disclosed = manifest.state_after["store"], manifest.disclosure["store"]
        assert (state["commitlog_sync"], state["durable_writes"]) == ("batch", "true")
        assert (disclosed["name"], disclosed["durability"]) == ("Cassandra", "synced")
        assert disclosed["version"] == "5.0.9" and len(disclosed["sha256"]) == 64


def test_servers_were_warmed_up(done: Measured) -> None:
    run, manifests = done
    warmed = [
        entry["name"] for entry in run.journal.read() if entry["event"] == "daemons-warmed-up"
    ]
    assert sorted(warmed) == ["warm-up-inserts", "warm-up-mix"]
    shares = {n: m.state_before.get("compiling_share") for n, m in manifests.items()}
    assert all((share is None) is ("ycsb-load" in name) for name, share in shares.items())


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []


def test_a_node_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    site, journal = open_build(tmp_path, os.getpid())

    class Killing(Journal):
        def record(self, event: Event) -> None:
            super().record(event)
            if isinstance(event, PhaseEnded) and event.name == "start":
                time.sleep(5)  # it has written its log by then
                victims = [one for one in tagged(site.tag) if one.node == "w2"]
                os.kill(victims[0].pid, signal.SIGKILL)

    placed = topology(tmp_path, store=STORE)
    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, placed, ensure_stacks(store=STORE), Killing(journal.path))
    finally:
        tear_down(site, journal)
    assert (caught.value.daemon, "'w2'" in caught.value.where) == ("cassandra", True)
    assert "Cassandra" in caught.value.log_tail
    assert tagged(site.tag) == []


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    before = set(Path.home().glob(".*")) | set(Path("/tmp").glob("*"))
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(tmp_path)]
    orchestrator = subprocess.Popen([*argv, STORE.name, STORE.durability])
    try:
        run = wait_for(tmp_path / "runs", lambda entry: entry["event"] == "build-ready", 120)
        nodes = tagged(f"{run.parent.name}/{run.name}")
        # only the node's address: CQL, other nodes, JMX
        addresses = {
            one.laddr.ip
            for node in nodes
            for one in psutil.Process(node.pid).net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }
        assert (len(nodes), addresses) == (2, {"127.0.0.1"})
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(tmp_path / "runs").reaped
    finally:
        orchestrator.kill()
        orchestrator.wait()
        reap(tmp_path / "runs")
    assert len([line for line in reaped.removed if line.startswith("process")]) == 2
    assert tagged(reaped.tag) == []
    assert list((tmp_path / "disk").iterdir()) == []
    after = set(Path.home().glob(".*")) | set(Path("/tmp").glob("*"))
    assert {
        path for path in after - before if "cassandra" in path.name or "jna" in path.name
    } == set()
