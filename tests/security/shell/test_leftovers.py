"""What a killed process leaves in folders for temporary files, and who removes it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import abandoned
from density_study.cluster.state import scratch as module
from density_study.cluster.state.runtime import VARIABLE, runtime_dir
from density_study.cluster.state.scratch import SPARK, scratch, sweep
from density_study.dags.stages import study_stages

HOLDS = """
import sys, time
from pathlib import Path
from density_study.cluster.state.scratch import SPARK, scratch
with scratch(Path(sys.argv[1]), SPARK) as folder:
    (folder / "shuffle").mkdir()
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """The folder of a process that was killed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    folder = Path(holder.stdout.readline().strip())
    with scratch(tmp_path, SPARK):
        assert (folder / "shuffle").is_dir(), "it was alive"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert folder.is_dir()
    return folder


def test_the_next_process_removes_what_a_killed_one_left(held: Path, tmp_path: Path) -> None:
    with scratch(tmp_path, SPARK) as own:
        assert not held.exists()
        assert own.stat().st_mode & 0o077 == 0
    assert not own.exists()


def test_reap_removes_it_too_and_a_dry_run_does_not(
    runtime: None, held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    study, own = tmp_path / "runs/study", runtime_dir()
    left = [study / ".importing-x/r1", study / ".removed-x/r1", own / "own-x/stack.tar"]
    for folder in left:
        folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as killed, socket.socket(socket.AF_UNIX) as alive:
        killed.bind(str(own / "net-000000000000"))
        alive.bind(str(own / "net-111111111111"))
        alive.listen()
        killed.close()
        (planned,) = study_stages.reap(tmp_path / "runs", dry_run=True).abandoned
        assert held.exists() and all(folder.exists() for folder in left)
        (removed,) = study_stages.reap(tmp_path / "runs", dry_run=False).abandoned
        assert study_stages.reap(tmp_path / "runs", dry_run=False).abandoned == ()
    assert not held.exists() and not any(folder.parent.exists() for folder in left)
    assert [door.name for door in own.glob("net-*")] == ["net-111111111111"]
    named = {str(path) for path in (held, own / "net-000000000000", *(one.parent for one in left))}
    assert set(planned.removed) == set(removed.removed) == named
    assert "would remove" in str(planned) and "would" not in str(removed)


def test_what_earlier_versions_left_is_removed_once_it_is_of_no_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(own := tmp_path / "runtime"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "runs" / "study" / ".removed" / "r1").mkdir(parents=True)
    own.mkdir(mode=0o700)
    used, new, gone = (own / f"virsh-ssh-{digit * 16}" for digit in "123")
    lasting = [own / "lease.json", own / "conf-mine", used, new]
    for path in (*lasting, gone):
        path.write_text("x")
    (own / "stacks-ab12_xyz").mkdir()
    for path in set(own.iterdir()) - {new}:
        os.utime(path, (1.0, 1.0))
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen([*sleeps, f"--connect=qemu+ssh://h/system?command={used}"]) as virsh:
        (removed,) = abandoned.sweep_abandoned(tmp_path / "runs", dry_run=False)
        virsh.kill()
    assert sorted(own.iterdir()) == sorted(lasting)
    assert str(gone) in removed.removed and len(removed.removed) == 3


def test_links_files_and_folders_of_other_users_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / f"{SPARK}link").symlink_to(tmp_path / "precious")
    (tmp_path / f"{SPARK}file").touch()
    sweep(tmp_path, SPARK)
    assert (tmp_path / "precious").is_dir() and (tmp_path / f"{SPARK}file").exists()
    (tmp_path / f"{SPARK}foreign").mkdir()
    monkeypatch.setattr(module.os, "getuid", lambda: os.geteuid() + 1)
    sweep(tmp_path, SPARK)
    assert (tmp_path / f"{SPARK}foreign").exists()
