"""The folder of locks and leases is this user's alone, or no command uses it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import lease
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.runtime import keep_from_sweeps, runtime_dir
from tests.security.other_users.rights import NOBODY, needs_root, set_rights
from tests.security.run_folders.crafted import study


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(folder))
    monkeypatch.setenv("DENSITY_STUDY_STATE", str(tmp_path / "state"))
    return folder


def made(place: Path, mode: int) -> None:
    place.mkdir()
    place.chmod(mode)


def lease_refused(place: Path, words: str) -> None:
    """No lease is taken there, and nothing is written."""
    with pytest.raises(InputError, match=words) as caught:
        lease.acquire("s/r1", place.parent / "runs/s/r1", Owner.of_process(os.getpid()))
    assert caught.value.where == str(place) and caught.value.remedy
    assert list(place.iterdir()) == []


@needs_root
@pytest.mark.parametrize("mode", [0o777, 0o700, 0o1777])
def test_a_folder_of_another_user_is_refused(place: Path, mode: int) -> None:
    made(place, mode)
    os.chown(place, NOBODY, NOBODY)
    os.utime(place, (0, 0))
    lease_refused(place, "not a folder that this user owns")
    with pytest.raises(InputError, match="not a folder that this user owns"):
        keep_from_sweeps()
    assert place.stat().st_mtime == 0
    assert study("reap", "--runs", place.parent / "runs").exit_code == 2


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o720, 0o702, 0o2770])
def test_an_own_folder_that_others_may_write_to_is_refused(place: Path, mode: int) -> None:
    made(place, mode)
    lease_refused(place, "other users may write to it")
    place.chmod(0o700)
    assert runtime_dir() == place


def test_a_folder_that_a_list_of_rights_opens_is_refused(place: Path) -> None:
    made(place, 0o700)
    set_rights(place, "access", group=0, others=0)
    lease_refused(place, "other users may write to it")


@pytest.mark.parametrize("to", ["folder", "nowhere"])
def test_a_link_is_refused(place: Path, to: str) -> None:
    target = place.parent / "target"
    if to == "folder":
        target.mkdir(mode=0o700)
    place.symlink_to(target)
    with pytest.raises(InputError, match="not a folder that this user owns"):
        runtime_dir()
    assert not target.exists() or list(target.iterdir()) == []
