"""An owner is alive, dead or unknown; the run's lock and heartbeat are the evidence."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import owner as owners
from density_study.cluster.state import presence, runtime
from density_study.cluster.state.owner import SILENT_AFTER_S, Owner, Place, State, here, judge

LONG_S, BRIEF_S = 10 * SILENT_AFTER_S, 1.0
HERE = here()
SIBLING = replace(HERE, pid_namespace=HERE.pid_namespace + 1)
REBOOTED = replace(HERE, boot_id="before")
ELSEWHERE = Place("elsewhere", "another", HERE.pid_namespace)


def this(place: Place = HERE, holds_lock: bool = True) -> Owner:
    return replace(Owner.of_process(os.getpid(), holds_lock), place=place)


def test_a_process_of_this_namespace_is_judged_by_its_start_time() -> None:
    ended = replace(this(), start_ticks=1)
    for lock_free in (True, False, None):
        for silent_s in (BRIEF_S, LONG_S):
            assert judge(this(), lock_free, silent_s) == "alive"
            assert judge(ended, lock_free, silent_s) == "dead"


@pytest.mark.parametrize(
    ("owner", "lock_free", "silent_s", "state"),
    [
        (this(SIBLING), False, LONG_S, "alive"),  # stopped by SIGSTOP: the kernel keeps its lock
        (this(SIBLING), True, LONG_S, "dead"),  # the kernel released its lock
        (this(SIBLING), None, LONG_S, "unknown"),  # another file system
        (this(SIBLING), True, BRIEF_S, "alive"),  # between two holders of the lock
        (this(SIBLING, holds_lock=False), True, LONG_S, "unknown"),  # Airflow, between two tasks
        (this(ELSEWHERE), True, LONG_S, "unknown"),  # perhaps a network file system without locks
        (this(ELSEWHERE), False, LONG_S, "alive"),
        (this(ELSEWHERE), True, BRIEF_S, "alive"),
        (this(REBOOTED), True, LONG_S, "dead"),
        (
            this(REBOOTED),
            True,
            BRIEF_S,
            "alive",
        ),  # another machine with the same name sends heartbeats
        (Owner.of_dag_run("d/r"), True, LONG_S, "unknown"),
        (Owner.of_dag_run("d/r"), True, BRIEF_S, "alive"),
        (Owner.of_dag_run("d/r"), False, LONG_S, "alive"),
        (replace(Owner.of_dag_run("d/r"), place=REBOOTED), True, LONG_S, "unknown"),
    ],
)
def test_an_owner_elsewhere_is_dead_only_with_evidence(
    owner: Owner,
    lock_free: bool | None,
    silent_s: float,
    state: State,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owners, "_INITIAL_PID_NAMESPACE", 0)  # as in a container
    assert judge(owner, lock_free, silent_s) == state


def test_an_owner_survives_the_json_round_trip() -> None:
    for owner in (this(), Owner.of_dag_run("study_nightly/manual__1")):
        assert Owner.from_json(owner.to_json()) == owner


def test_a_proc_of_another_namespace_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """In `unshare --pid` without --mount-proc, each pid would mean another process."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with pytest.raises(StudyError, match="mount-proc"):
        here()


@contextmanager
def holder(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the presence lock of the run in `root`."""
    code = (
        "import sys, pathlib\nfrom density_study.cluster.state.presence import present\n"
        "with present(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(root)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.thorough
def test_a_killed_holder_releases_the_lock(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        assert presence.is_free(tmp_path) is False
        with presence.alone(tmp_path) as locked:
            assert not locked
        process.kill()
        process.wait()
        assert presence.is_free(tmp_path) is True
        with presence.alone(tmp_path) as locked:
            assert locked


def test_several_processes_may_hold_the_lock(tmp_path: Path) -> None:
    with holder(tmp_path), presence.present(tmp_path):
        assert presence.is_free(tmp_path) is False


def test_a_child_does_not_inherit_its_parents_lock(tmp_path: Path) -> None:
    with presence.present(tmp_path):
        daemon = subprocess.Popen(["sleep", "60"])
    try:
        assert presence.is_free(tmp_path) is True
    finally:
        daemon.kill()
        daemon.wait()


def test_a_holder_sends_heartbeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "BEAT_EVERY_S", 0.05)
    with presence.present(tmp_path):
        os.utime(tmp_path / presence.LOCK, (0, 0))
        deadline = time.monotonic() + 30
        while (presence.silent_s(tmp_path) or LONG_S) >= LONG_S and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (presence.silent_s(tmp_path) or 0.0) < LONG_S


def test_a_heartbeat_renews_the_lease_and_makes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be that of another test, or on a disk that is not mounted."""
    folder = tmp_path / "runtime"
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(folder))
    runtime.keep_from_sweeps()
    assert not folder.exists()
    folder.mkdir()
    (folder / runtime.LEASE).touch()
    os.utime(folder / runtime.LEASE, (0, 0))
    runtime.keep_from_sweeps()
    assert (folder / runtime.LEASE).stat().st_mtime > 0


def test_a_heartbeat_from_the_future_counts_neither_as_old_nor_as_new(tmp_path: Path) -> None:
    """The other host's clock is ahead, or this clock was set back."""
    (tmp_path / presence.LOCK).touch()
    os.utime(tmp_path / presence.LOCK, (time.time() + 86400,) * 2)
    assert presence.silent_s(tmp_path) is None
    assert judge(this(ELSEWHERE), True, None) == "unknown"


def test_a_missing_folder_is_no_evidence(tmp_path: Path) -> None:
    assert presence.is_free(tmp_path / "none") is None
