"""One study at a time on a host, across the processes of a run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import InputError, StudyError
from cluster.lease import acquire, holder, release

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "60"])
    yield child
    child.kill()
    child.wait()


def test_a_second_study_is_refused_by_the_name_of_the_first(other: subprocess.Popen[bytes]) -> None:
    acquire("first/r1", other.pid)
    with pytest.raises(InputError) as caught:
        acquire("second/r2", os.getpid())
    assert "'first'" in caught.value.what
    assert f"process {other.pid}" in caught.value.what
    assert caught.value.exit_code == 2


def test_the_same_run_may_ask_again_but_not_under_another_living_owner(
    other: subprocess.Popen[bytes],
) -> None:
    lease = acquire("first/r1", other.pid)
    assert acquire("first/r1", other.pid) == lease
    with pytest.raises(InputError):
        acquire("first/r1", os.getpid())


def test_it_outlives_the_process_that_asked_and_ends_with_its_owner(
    other: subprocess.Popen[bytes],
) -> None:
    lease = acquire("first/r1", other.pid)
    assert lease.is_live
    other.kill()
    other.wait()
    assert not lease.is_live
    assert acquire("second/r2", os.getpid()).mark == "second/r2"


def test_a_stale_lease_whose_processes_live_needs_a_reap(other: subprocess.Popen[bytes]) -> None:
    acquire("first/r1", other.pid)
    environment = {**os.environ, "STUDY_MARK": "first/r1/b1"}
    orphan = subprocess.Popen(["sleep", "60"], env=environment)
    other.kill()
    other.wait()
    try:
        with pytest.raises(InputError, match="study reap"):
            acquire("second/r2", os.getpid())
        assert acquire("first/r1", os.getpid()).is_live  # its own next opening may go on
    finally:
        orphan.kill()
        orphan.wait()


def test_released_it_is_free_and_only_its_holder_can(other: subprocess.Popen[bytes]) -> None:
    acquire("first/r1", other.pid)
    assert not release("second/r2")
    assert holder() is not None
    assert release("first/r1")
    assert not release("first/r1")
    assert holder() is None


def test_a_dead_owner_is_no_owner() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(StudyError, match="is gone"):
        acquire("first/r1", child.pid)


def test_a_lease_of_another_format_is_not_guessed_at(tmp_path: Path) -> None:
    acquire("first/r1", os.getpid())
    file = tmp_path / "runtime" / "lease.json"
    file.write_text(file.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(StudyError, match="another format"):
        holder()


def test_a_runtime_folder_that_is_a_link_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "link"))
    with pytest.raises(InputError, match="not a folder of this user"):
        holder()
