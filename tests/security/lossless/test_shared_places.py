"""Several users and processes in one place: a disk of two users, a folder imported several times at once,
a run of somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Thread

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.machine import directories
from density_study.cluster.machine.disk_type import check_disk
from density_study.cluster.model.errors import InputError
from density_study.cluster.state import presence
from density_study.cluster.state.events import RunEnded, RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.own_runs import register
from density_study.cluster.state.owner import Owner
from density_study.dags.cli import import_command
from tests.security.lossless.each_write import run

pytestmark = pytest.mark.usefixtures("runtime")
NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="acts as two users")


def as_nobody(act: Callable[[], None]) -> str:
    """The error of `act` as another user, in a child."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        text = ""
        try:
            os.setgroups([])
            os.setresuid(NOBODY, NOBODY, NOBODY)
            act()
        except Exception as error:  # for the parent to judge
            text = f"{type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder that every user may write to. Not below tmp_path, which only its owner may enter."""
    with TemporaryDirectory(prefix="shared-disk-") as folder:
        disk = Path(folder)
        disk.chmod(0o1777)
        yield disk


@needs_root
def test_the_second_user_of_a_disk_gets_a_clear_message(disk: Path) -> None:
    ours = disk / directories.FOLDER / "quickstart" / "r1" / "b1" / "w1"
    directories.make_at(ours, "quickstart/r1/b1")
    theirs = disk / directories.FOLDER / "quickstart" / "r2" / "b1" / "w1"
    for act in (lambda: check_disk(disk), lambda: directories.make_at(theirs, "quickstart/r2/b1")):
        text = as_nobody(act)
        assert text.startswith("InputError"), text
        assert "belongs to user root, and this study runs as nobody" in text
        assert f"{disk}" in text and "/nobody" in text
    own = disk / "nobody"  # as the remedy says
    assert as_nobody(own.mkdir) == ""
    assert as_nobody(lambda: check_disk(own)) == ""
    there = own / directories.FOLDER / "quickstart" / "r2" / "b1" / "w1"
    assert as_nobody(lambda: directories.make_at(there, "quickstart/r2/b1")) == ""
    assert directories.remove_at(ours, "quickstart/r1/b1")
    assert not (disk / directories.FOLDER).exists()
    check_disk(disk)


@needs_root
def test_root_does_not_build_in_the_folder_of_another_user(disk: Path) -> None:
    (disk / directories.FOLDER).mkdir()
    os.chown(disk / directories.FOLDER, NOBODY, NOBODY)
    with pytest.raises(InputError, match="belongs to user nobody"):
        check_disk(disk)


def test_simultaneous_imports_end_well_with_a_run_each(theirs: Path, tmp_path: Path) -> None:
    assert run("import", theirs, "--init") == 0
    runs, start = tmp_path / "runs", Barrier(4)
    made: list[Path] = []
    faults: list[BaseException] = []

    def work() -> None:
        start.wait()
        try:
            made.append(import_command._imported(theirs, theirs / "map.yaml", runs, False)[2])
        except BaseException as error:
            faults.append(error)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sorted(made) == run_folders(runs) and len(set(made)) == 4
    assert not list((runs / "theirs").glob(".importing-*"))


def test_leftovers_of_a_killed_import_are_swept_by_the_next(theirs: Path, tmp_path: Path) -> None:
    assert run("import", theirs, "--init") == 0
    study = tmp_path / "runs" / "theirs"
    (study / ".importing-20260101T000000Z" / "20260101T000000Z" / "records").mkdir(parents=True)
    (study / "20260101T000000Z").mkdir()
    import_command._imported(theirs, theirs / "map.yaml", study.parent, False)
    assert len(run_folders(study.parent)) == 1
    assert [path.name for path in study.iterdir() if "20260101" in path.name] == []


@needs_root
def test_reap_does_not_blame_a_process_for_a_read_only_folder(tmp_path: Path) -> None:
    root = tmp_path / "runs" / "quickstart" / "r1"
    root.mkdir(parents=True)
    journal = Journal(root / JOURNAL)
    owner = Owner.of_process(os.getpid())
    journal.record(
        RunOpened(study="quickstart", run="r1", tag="quickstart/r1", owner=owner.to_json())
    )
    journal.intend("build", "quickstart/r1/b1", build="b1", provider="local")
    journal.record(RunEnded(outcome="ok", message=""))
    register(root)
    for command in (("--bind", str(root), str(root)), ("-o", "remount,ro,bind", str(root))):
        subprocess.run(["mount", *command], check=True)
    try:
        assert not presence.is_writable(root)
        (left,) = reap(tmp_path / "runs").left_alone
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=True)
    assert "read-only" in left.why and "process" not in left.why
    shutil.rmtree(root)
