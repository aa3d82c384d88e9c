"""Accumulo with two tablet servers as the store of a study; a server killed, and a run: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.store import Store
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.tags import tagged
from tests.live.support.builds import open_build, topology
from tests.live.support.command import left_of, wait_for
from tests.live.support.measured import Measured, measured, operations_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("accumulo.yaml")
STORE = Store("accumulo")
MAINS = ("tserver.TabletServer", "manager.Manager", "gc.SimpleGarbageCollector")


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
        assert ("SCAN" in counts) is ("half-scans" in name)


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


def mains(processes: list[ProcessId]) -> dict[ProcessId, str]:
    """Accumulo's daemons among them, by the class that they run."""
    found: dict[ProcessId, str] = {}
    for process in processes:
        with suppress(psutil.Error):
            words = psutil.Process(process.pid).cmdline()
            for main in MAINS:
                if any(word.endswith(f".{main}") for word in words):
                    found[process] = main
    return found


def test_a_tablet_server_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    site, journal = open_build(tmp_path, os.getpid())

    log = site.root / "logs" / "w2" / "tserver.log"

    def kill() -> None:
        while not (log.exists() and log.stat().st_size):
            time.sleep(0.1)
        for process, main in mains(tagged(site.tag)).items():
            if (main, process.node) == ("tserver.TabletServer", "w2"):
                os.kill(process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, topology(tmp_path, store=STORE), ensure_stacks(store=STORE), journal)
    finally:
        tear_down(site, journal)
    killer.join(10)
    assert (caught.value.daemon, "'w2'" in caught.value.where) == ("tserver", True)
    assert "tserver.log" in caught.value.log_tail
    assert tagged(site.tag) == []


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    before = set(Path.home().glob(".*")) | set(Path("/tmp").glob("*"))
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(tmp_path)]
    orchestrator = subprocess.Popen([*argv, STORE.name, STORE.durability])
    try:
        run = wait_for(tmp_path / "runs", lambda entry: entry["event"] == "build-ready", 180)
        found = mains(tagged(f"{run.parent.name}/{run.name}"))
        # only the node's address
        addresses = {
            one.laddr.ip
            for process in found
            for one in psutil.Process(process.pid).net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }
        assert (len(found), addresses) == (4, {"127.0.0.1"})
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(tmp_path / "runs").reaped
    finally:
        orchestrator.kill()
        orchestrator.wait()
        reap(tmp_path / "runs")
    # ZooKeeper, NameNode, ResourceManager, manager, collector; DataNode, NodeManager, tablet server of each
    assert len([line for line in reaped.removed if line.startswith("process")]) == 5 + 2 * 3
    assert tagged(reaped.tag) == []
    assert list((tmp_path / "disk").iterdir()) == []
    after = set(Path.home().glob(".*")) | set(Path("/tmp").glob("*"))
    assert {path for path in after - before if "accumulo" in path.name} == set()
