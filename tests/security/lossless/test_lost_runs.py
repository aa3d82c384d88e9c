"""A run is killed and its folder deleted: the machine is free again, at once or by the command that the
message names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import lost_run
from density_study.cluster.machine import processes
from density_study.cluster.model.errors import HostBusyError
from density_study.cluster.state import lease, owner
from density_study.cluster.state.lease import acquire, check_free
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.tags import start_ticks
from density_study.dags.stages import study_stages

pytestmark = pytest.mark.usefixtures("runtime")

UNSHARE = ("unshare", "--pid", "--fork", "--mount-proc")
HOLDS = """
import os, sys, time
from pathlib import Path
from density_study.cluster.state import lease, presence
from density_study.cluster.state.owner import Owner
root = Path(sys.argv[1])
root.mkdir(parents=True)
owner = Owner.of_process(os.getpid(), holds_lock=True)
lease.acquire("quickstart/r1", root, owner)
presence.stay(root)
print(owner.name, flush=True)
time.sleep(600)
"""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="makes a PID namespace")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "gone" / "quickstart" / "r1"


def this() -> Owner:
    return Owner.of_process(os.getpid())


def lose(root: Path) -> str:
    """Start a run in a PID namespace of its own, kill it, and delete its folder. The owner's name."""
    with subprocess.Popen(
        [*UNSHARE, sys.executable, "-c", HOLDS, str(root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in (*children, process.pid):
            os.kill(int(pid), 9)
        deadline = time.monotonic() + 10
        while any(map(start_ticks, map(int, children))) and time.monotonic() < deadline:
            time.sleep(0.01)  # it dies thread by thread
    shutil.rmtree(root.parents[1])
    return name


@needs_root
def test_a_killed_run_without_its_folder_no_longer_holds_the_machine(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name = lose(root)
    assert acquire("second/r2", tmp_path / "second", this()).tag == "second/r2"
    assert all(word in caplog.text for word in ("quickstart/r1", str(root), name))


@needs_root
def test_a_living_run_keeps_the_machine_without_its_folder(root: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*UNSHARE, sys.executable, "-c", HOLDS, str(root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        shutil.rmtree(root.parents[1])
        try:
            with pytest.raises(HostBusyError):
                acquire("second/r2", tmp_path / "second", this())
        finally:
            child = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
            os.kill(int(child), 9)


def elsewhere() -> Owner:
    return replace(this(), place=replace(owner.here(), host="elsewhere", boot_id="another"))


def test_an_unknown_owner_is_released_by_the_command_that_the_message_names(
    root: Path, tmp_path: Path
) -> None:
    acquire("quickstart/r1", root, elsewhere())
    with pytest.raises(HostBusyError) as caught:
        check_free("second/r2", this())
    message = str(caught.value)
    assert str(root) in message
    assert "silent" not in message, "nobody knows since when"
    assert f"study reap --force {elsewhere().name}" in caught.value.remedy
    unforced = study_stages.reap(tmp_path, dry_run=False)
    assert [left.tag for left in unforced.left_alone] == ["quickstart/r1"]
    planned = study_stages.reap(tmp_path, dry_run=True, dead=(elsewhere().name,))
    assert planned.reaped
    with pytest.raises(HostBusyError):
        check_free("second/r2", this())
    swept = study_stages.reap(tmp_path, dry_run=False, dead=(elsewhere().name,))
    assert [each.tag for each in swept.reaped] == ["quickstart/r1"]
    check_free("second/r2", this())


def test_processes_of_a_lost_run_are_ended_by_reap(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = f"lost-{os.getpid()}/r1"
    acquire(tag, root, replace(this(), start_ticks=1))
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "STUDY_TAG": tag}) as orphan:
        with pytest.raises(Exception, match="study reap"):
            check_free("second/r2", this())
        with monkeypatch.context() as hung:  # one that the kernel does not end keeps no other run
            hung.setattr(processes, "KILLED_WITHIN_S", -1.0)
            hung.setattr(processes, "_signal", lambda *_: None)
            hung.setattr(lost_run, "GRACE_S", 0.0)
            (failed,) = study_stages.reap(tmp_path, dry_run=False).failed
            assert f"process {orphan.pid}" in str(failed) and "did not end" in str(failed)
        (reaped,) = study_stages.reap(tmp_path, dry_run=False).reaped
        assert str(orphan.pid) in str(reaped)
        assert orphan.wait(10) == -15
    check_free("second/r2", this())


def test_silence_without_a_sign_of_life_is_unknown(tmp_path: Path) -> None:
    from density_study.cluster.state import presence

    assert presence.silent_s(tmp_path / "gone") is None
    lock = tmp_path / presence.LOCK
    lock.touch()
    os.utime(lock, (time.time() + 86_400,) * 2)
    assert presence.silent_s(tmp_path) is None, "the clock was set back"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "1", "null", '{"format": 2}', '{"format": 3, "tag": 1}', "[" * 100_000,
     "\x00", "\ud800"],
)  # fmt: skip
def test_a_damaged_lease_is_one_clear_error(content: str, tmp_path: Path) -> None:
    from density_study.cluster.model.errors import StudyError

    path = tmp_path / "runtime" / "lease.json"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(StudyError) as caught:
        acquire("second/r2", tmp_path / "second", this())
    assert caught.value.where == str(path)
    assert f"rm {path}" in caught.value.remedy
    path.unlink()  # as the remedy says
    assert acquire("second/r2", tmp_path / "second", this())


@pytest.mark.parametrize(
    ("key", "value"),
    [("tag", 1), ("root", []), ("owner", {}), ("owner", "x"), ("since", "x"), ("since", None),
     ("pid", 10**40), ("pid", -1), ("place", [])],
)  # fmt: skip
def test_wrong_types_in_a_lease_are_one_clear_error(
    key: str, value: object, tmp_path: Path, root: Path
) -> None:
    from density_study.cluster.model.errors import StudyError

    acquire("quickstart/r1", root, this())
    path = tmp_path / "runtime" / "lease.json"
    entry = json.loads(path.read_text())
    (entry["owner"] if key in entry["owner"] else entry)[key] = value
    path.write_text(json.dumps(entry))
    with pytest.raises(StudyError, match="rm "):
        check_free("second/r2", this())


@pytest.mark.parametrize("name", ["lease.json", "lease.lock"])
@pytest.mark.parametrize("kind", ["link", "dangling", "FIFO", "folder"])
def test_a_lease_that_is_no_file_neither_hangs_nor_is_followed(
    name: str, kind: str, tmp_path: Path
) -> None:
    from density_study.cluster.model.errors import StudyError

    path = tmp_path / "runtime" / name
    path.parent.mkdir(mode=0o700)
    victim = tmp_path / "victim"
    if kind == "link":
        victim.write_text("theirs")
    if kind in ("link", "dangling"):
        path.symlink_to(victim)
    elif kind == "FIFO":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(StudyError, match=f"rm .*{name}"):
        acquire("second/r2", tmp_path / "second", this())
    assert victim.exists() == (kind == "link")
    assert kind != "link" or victim.read_text() == "theirs"


def test_a_damaged_journal_of_the_holder_stops_nobody(root: Path, tmp_path: Path) -> None:
    root.mkdir(parents=True)
    acquire("quickstart/r1", root, replace(this(), start_ticks=1))
    (root / "journal.jsonl").write_text('{"format": 99}\n')
    assert acquire("second/r2", tmp_path / "second", this()).tag == "second/r2"


def test_a_heartbeat_keeps_the_lease_from_being_swept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from density_study.cluster.state import presence
    from density_study.cluster.state.runtime import runtime_dir

    monkeypatch.setattr(presence, "BEAT_EVERY_S", 0.02)
    root.mkdir(parents=True)
    acquire("quickstart/r1", root, this())
    swept = (runtime_dir() / "lease.json", runtime_dir() / "lease.lock", runtime_dir())
    for path in swept:
        os.utime(path, (0, 0))
    with presence.present(root):
        deadline = time.monotonic() + 10
        while any(path.stat().st_mtime < 1 for path in swept) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert all(path.stat().st_mtime > 1 for path in swept)
    assert lease.holder() is not None


def test_a_swept_lock_file_locks_nobody_out_and_nobody_in(tmp_path: Path) -> None:
    """Whoever waited for a lock file that was deleted meanwhile takes the new one."""
    from threading import Event, Thread

    from density_study.cluster.state import atomic

    path = tmp_path / "lock"
    inside, overlap = [], []
    entered, leave = Event(), Event()

    def work(first: bool) -> None:
        with atomic.locked(path):
            inside.append(first)
            overlap.append(len(inside))
            if first:
                entered.set()
                leave.wait(10)
            inside.remove(first)

    one, two = Thread(target=work, args=(True,)), Thread(target=work, args=(False,))
    one.start()
    entered.wait(10)
    two.start()
    time.sleep(0.1)  # it waits for the file that is deleted now
    path.unlink()
    leave.set()
    one.join()
    two.join()
    assert path.exists(), "the second one took a new file"
