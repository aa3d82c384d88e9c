"""A host runs one study at a time, across the processes of a run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import HostBusyError, InputError, StudyError
from density_study.cluster.state.events import RunEnded, RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.lease import abandon, acquire, holder, release
from density_study.cluster.state.owner import SILENT_AFTER_S, Owner, Place
from density_study.cluster.state.runtime import runtime_dir

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "60"])
    yield child
    child.kill()
    child.wait()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the first run that requests the lease."""
    (tmp_path / "first").mkdir()
    return tmp_path / "first"


def this() -> Owner:
    return Owner.of_process(os.getpid())


def test_a_second_study_is_refused_by_the_name_of_the_first(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    first = Owner.of_process(other.pid)
    acquire("first/r1", root, first)
    with pytest.raises(InputError) as caught:
        acquire("second/r2", root, this())
    assert "'first'" in caught.value.what
    assert first.name in caught.value.what
    assert caught.value.exit_code == 2


def test_a_run_may_renew_its_lease_but_not_under_another_living_owner(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    lease = acquire("first/r1", root, Owner.of_process(other.pid))
    assert acquire("first/r1", root, Owner.of_process(other.pid)) == lease
    with pytest.raises(InputError):
        acquire("first/r1", root, this())


def test_the_lease_outlives_the_requesting_process_and_ends_with_its_owner(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    lease = acquire("first/r1", root, Owner.of_process(other.pid))
    assert lease.state == "alive"
    other.kill()
    other.wait()
    assert lease.state == "dead"
    assert acquire("second/r2", root, this()).tag == "second/r2"


def test_a_stale_lease_with_live_processes_needs_a_reap(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    acquire("stale/r1", root, Owner.of_process(other.pid))
    # A tag of its own: concurrent tests look for processes with their tags.
    environment = {**os.environ, "STUDY_TAG": "stale/r1/b1"}
    orphan = subprocess.Popen(["sleep", "60"], env=environment)
    other.kill()
    other.wait()
    try:
        with pytest.raises(InputError, match=f"study reap --runs {root.parents[1]}`"):
            acquire("second/r2", root, this())
        again = acquire("stale/r1", root, this())  # its own next opening may resume
        assert again.state == "alive"
    finally:
        orphan.kill()
        orphan.wait()


def test_an_abandoned_lease_is_free_once_its_processes_have_ended(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    tag = f"abandoned-{os.getpid()}/r1"
    owner = Owner.of_process(other.pid)
    acquire(tag, root, owner)
    abandon("other/r9")
    with pytest.raises(HostBusyError):
        acquire("second/r2", root, this())
    abandon(tag)
    process = subprocess.Popen(["sleep", "60"], env={**os.environ, "STUDY_TAG": tag})
    try:
        with pytest.raises(InputError, match="study reap"):
            acquire("second/r2", root, this())
    finally:
        process.kill()
        process.wait()
    assert acquire("second/r2", root, this()).tag == "second/r2"


def test_a_reopened_run_has_not_abandoned_its_lease(root: Path) -> None:
    acquire("first/r1", root, this())
    abandon("first/r1")
    acquire("first/r1", root, this())
    lease = holder()
    assert lease is not None and not lease.abandoned


def test_a_run_that_ended_on_another_machine_holds_this_one_no_longer(root: Path) -> None:
    """A lease is in a folder of its machine, and the run's last task may run on any worker."""
    there = replace(Owner.of_dag_run("study_x/manual"), place=Place("elsewhere", "another-boot", 1))
    first = acquire("first/r1", root, there)
    journal = Journal(root / JOURNAL)
    journal.record(RunOpened(study="first", run="r1", tag="first/r1", owner=there.to_json()))
    make_silent(root)
    assert first.state == "unknown"
    with pytest.raises(HostBusyError):
        acquire("second/r2", root.with_name("second"), this())
    journal.record(RunEnded(outcome="ok", message=""))
    assert first.state == "dead"
    # Opened again, here: the end in the journal is older than this lease.
    again = acquire("first/r1", root, there)
    assert again.since > first.since
    assert again.state != "dead"
    journal.record(RunOpened(study="first", run="r1", tag="first/r1", owner=there.to_json()))
    journal.record(RunEnded(outcome="failed", message="", finished=False))
    assert acquire("second/r2", root.with_name("second"), this()).tag == "second/r2"


def make_silent(root: Path) -> None:
    long_ago = time.time() - 10 * SILENT_AFTER_S
    os.utime(root / JOURNAL, (long_ago, long_ago))


def test_an_owner_of_unknown_state_keeps_the_lease_and_is_named(root: Path) -> None:
    there = replace(this(), place=Place("elsewhere", "another-boot", 1))
    acquire("first/r1", root, there)
    with pytest.raises(HostBusyError) as caught:
        acquire("second/r2", root, this())
    assert there.name in caught.value.what
    assert "last sign of life is unknown" in caught.value.what
    assert f"--force {there.name}" in caught.value.remedy


def test_two_studies_of_one_scheduler_do_not_run_together(tmp_path: Path, root: Path) -> None:
    """Under `make airflow` the scheduler owns the runs of all DAGs."""
    acquire("first/r1", root, this())
    (root / "journal.jsonl").touch()
    with pytest.raises(HostBusyError, match="'first'"):
        acquire("second/r2", tmp_path / "second", this())
    os.utime(root / "journal.jsonl", (0, 0))  # stopped long ago without an end event
    assert acquire("second/r2", tmp_path / "second", this()).tag == "second/r2"


def test_a_released_lease_is_free_and_only_its_holder_releases_it(
    other: subprocess.Popen[bytes], root: Path
) -> None:
    acquire("first/r1", root, Owner.of_process(other.pid))
    assert not release("second/r2")
    assert holder() is not None
    assert release("first/r1")
    assert not release("first/r1")
    assert holder() is None


def test_a_dead_owner_holds_no_lease() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(StudyError, match="does not exist"):
        Owner.of_process(child.pid)


def test_the_lease_path_does_not_depend_on_the_login_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login shell has XDG_RUNTIME_DIR and cron has not: both must find the same lease."""
    monkeypatch.delenv("DENSITY_STUDY_RUNTIME")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    without = runtime_dir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert runtime_dir() == without


def test_a_lease_of_another_format_is_refused(tmp_path: Path, root: Path) -> None:
    acquire("first/r1", root, this())
    file = tmp_path / "runtime" / "lease.json"
    file.write_text(file.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(StudyError, match="another format"):
        holder()


def test_a_symlinked_runtime_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "link"))
    with pytest.raises(InputError, match="not a folder that this user owns"):
        holder()
