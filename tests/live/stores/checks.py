"""What is checked of every store: rows of complete trials, a server killed in bring-up, a killed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.reap import Reaped, reap
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.store import Store
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.tags import tagged
from tests.live.support.builds import open_build, topology
from tests.live.support.command import wait_for
from tests.live.support.measured import Measured, operations_of

ROWS = 2000


def all_rows_are_accounted_for(done: Measured) -> None:
    """Three complete trials, a load among them, without a failed operation."""
    run, manifests = done
    assert len(manifests) == 3
    for name, manifest in manifests.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        counts = operations_of(run, name)
        assert all(count.ok > 0 and count.failed == 0 for count in counts.values())
        before, after = manifest.state_before["store"], manifest.state_after["store"]
        inserted = counts["INSERT"].ok if "INSERT" in counts else 0
        assert after["rows"] == before["rows"] + inserted
        assert before["rows"] == (0 if "ycsb-load" in name else ROWS)


def servers_were_warmed_up(done: Measured) -> None:
    run, manifests = done
    warmed = [
        entry["name"] for entry in run.journal.read() if entry["event"] == "daemons-warmed-up"
    ]
    assert sorted(warmed) == ["warm-up-inserts", "warm-up-mix"]
    for manifest in manifests.values():
        assert {"compiling_share", "served_share"} <= manifest.state_before.keys()


def killed_in_bring_up(
    folder: Path, store: Store, program: str, log: str, says: str = ""
) -> BringUpError:
    """The server of w2 dies once its log has the text. `program`: a word of its command line. No process
    is left."""
    site, journal = open_build(folder, os.getpid())
    written = site.root / "logs" / "w2" / log

    def kill() -> None:
        while not (written.exists() and (text := written.read_text()) and says in text):
            time.sleep(0.05)
        for process in running(tagged(site.tag), program):
            if process.node == "w2":
                os.kill(process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, topology(folder, store=store), ensure_stacks(store=store), journal)
    finally:
        tear_down(site, journal)
    killer.join(10)
    assert tagged(site.tag) == []
    return caught.value


def running(processes: Iterable[ProcessId], program: str) -> list[ProcessId]:
    """Those with the program in their command line."""
    found = []
    for process in processes:
        with suppress(psutil.Error):  # it has ended meanwhile
            if any(program in word for word in psutil.Process(process.pid).cmdline()):
                found.append(process)
    return found


def servers_of(tag: str) -> list[ProcessId]:
    """Daemons of nodes; what holds the build's network belongs to no node."""
    return [one for one in tagged(tag) if one.node]


def listening(processes: Iterable[ProcessId]) -> set[str]:
    """Addresses at which they listen, in the networks in which they are."""
    found = set()
    for process in processes:
        argv = ["nsenter", "--target", f"{process.pid}", "--net", "ss", "-ltnpH"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        own = [line for line in done.stdout.splitlines() if f"pid={process.pid}," in line]
        assert own, f"{process} listens nowhere"
        found |= {line.split()[3].rpartition(":")[0] for line in own}
    return {one.strip("[]").removeprefix("::ffff:") for one in found}


def reaped_after_kill_9(
    folder: Path,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    look: Callable[[Path, str], None],
    strays: tuple[str, ...] = (),
) -> Reaped:
    """What reap removed of a build whose orchestrator was killed with kill -9. `look` sees the run's folder
    and tag before. No process is left, no data, and no new file whose name has one of `strays`."""
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(folder / "runtime"))
    before = _files()
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(folder)]
    orchestrator = subprocess.Popen([*argv, store.name, store.durability])
    try:
        run = wait_for(folder / "runs", lambda entry: entry["event"] == "build-ready", 180)
        look(run, f"{run.parent.name}/{run.name}")
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(folder / "runs").reaped
    finally:
        orchestrator.kill()
        orchestrator.wait()
        reap(folder / "runs")
    assert tagged(reaped.tag) == []
    assert list((folder / "disk").iterdir()) == []
    assert not [path for path in _files() - before if any(stray in path.name for stray in strays)]
    return reaped


def processes_of(reaped: Reaped) -> int:
    """How many daemons of nodes it ended."""
    ended = [line for line in reaped.removed if line.startswith("process")]
    return len([line for line in ended if "(python on -)" not in line])


def _files() -> set[Path]:
    """Where programs leave files of theirs."""
    return {*Path.home().glob(".*"), *Path("/tmp").glob("*")}
