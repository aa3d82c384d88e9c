"""A run is deleted whole or not at all, and only when nothing of its clusters is left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.errors import HostLostError, InputError, StudyError
from density_study.cluster.state import own_runs, presence
from density_study.cluster.state.journal import Journal, run_folders
from density_study.cluster.state.presence import present
from density_study.workloads.execution import removal
from density_study.workloads.execution.removal import remove_run
from tests.support.made_runs.crashed import Crashed, crashed

__all__ = ["crashed"]  # the fixture

pytestmark = pytest.mark.usefixtures("runtime")


def ended(root: Path) -> Path:
    """A run that was never opened again after its end, with a file and a link."""
    root.mkdir(parents=True, exist_ok=True, mode=0o755)
    own_runs.register(root)
    journal = Journal(root / "journal.jsonl")
    journal.write("run-opened", study=root.parent.name, run=root.name, tag=f"{root.parent.name}/r1")
    journal.write("run-ended", outcome="ok", message="")
    (root / "records" / "t1").mkdir(parents=True)
    (root / "records" / "t1" / "raw.log").write_text("x")
    return root


def intend(root: Path, build: str = "b1") -> Journal:
    journal = Journal(root / "journal.jsonl")
    tag = f"{root.parent.name}/r1/{build}"
    journal.write("intent", act="build", build=build, tag=tag, provider="local", ports=[])
    return journal


def refused(root: Path, words: str) -> InputError:
    before = sorted(path.relative_to(root) for path in root.rglob("*"))
    with pytest.raises(InputError, match=words) as caught:
        remove_run(root)
    after = {path.relative_to(root) for path in root.rglob("*")}
    assert after - set(before) <= {Path("opening.lock"), Path("owner.lock")}
    assert set(before) <= after, "nothing was removed"
    assert caught.value.remedy
    return caught.value


def test_an_ended_run_is_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    root = ended(tmp_path / "runs" / "s" / "r1")
    (root / "records" / "link").symlink_to(outside)
    remove_run(root)
    assert list((tmp_path / "runs").glob("*/*")) == []
    assert (outside / "kept").read_text() == "kept", "links are removed, not followed"


def test_other_runs_stay(tmp_path: Path) -> None:
    first, second = (ended(tmp_path / "s" / name) for name in ("r1", "r2"))
    remove_run(first)
    assert run_folders(tmp_path) == [second]
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["r2"]


def test_a_live_run_is_refused(crashed: Crashed) -> None:
    assert "kill" in refused(crashed.root, "is running").remedy


def test_a_killed_run_is_refused_until_it_is_reaped(crashed: Crashed) -> None:
    crashed.kill()
    error = refused(crashed.root, "not everything that this run built is gone: .*process")
    assert "study reap" in error.remedy
    reap(crashed.root.parents[1])
    remove_run(crashed.root)
    assert not crashed.root.exists()


def test_a_run_that_is_being_analysed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "_DYING_S", 0.1)
    root = ended(tmp_path / "s" / "r1")
    with present(root):
        refused(root, "still working on this run")
    remove_run(root)


def test_a_build_that_cannot_be_examined_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ended(tmp_path / "s" / "r1")
    journal = intend(root)

    def lost(*_: object) -> tuple[str, ...]:
        raise HostLostError("the host does not answer.", "host h1", "switch it on.")

    monkeypatch.setattr("density_study.cluster.lifecycle.reap.leftovers_of", lost)
    assert refused(root, "cannot be verified").where == "host h1"
    proof = {"found": 0}
    journal.write("destroyed", build="b1", tag="s/r1/b1", proof=proof)
    intend(root)
    refused(root, "cannot be verified")  # it was built again after the proof
    journal.write("destroyed", build="b1", tag="s/r1/b1", proof=proof)
    remove_run(root)
    assert not root.exists()


def test_an_unreadable_journal_proves_nothing(tmp_path: Path) -> None:
    root = ended(tmp_path / "s" / "r1")
    with (root / "journal.jsonl").open("a") as journal:
        journal.write('{"format": 99, "event": "run-ended"}\n')
    refused(root, "journal cannot be read")


def test_a_link_is_refused_and_names_its_target(tmp_path: Path) -> None:
    root = ended(tmp_path / "elsewhere" / "r1")
    link = tmp_path / "runs" / "s" / "r1"
    link.parent.mkdir(parents=True)
    link.symlink_to(root)
    with pytest.raises(InputError, match="a link") as caught:
        remove_run(link)
    assert str(root) in caught.value.remedy and root.is_dir()


def test_without_permission_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ended(tmp_path / "s" / "r1")
    locked = root / "records" / "t1"
    # root may do everything, so the answer of the system is replaced
    monkeypatch.setattr(removal.os, "access", lambda path, _: Path(path) != locked)
    assert refused(root, "may not delete").where == str(locked)


def test_files_that_resist_are_named_and_the_run_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ended(tmp_path / "s" / "r1")
    real = shutil.rmtree

    def fails(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(removal.shutil, "rmtree", fails)
    with pytest.raises(StudyError, match="not all of its files") as caught:
        remove_run(root)
    assert run_folders(tmp_path) == []
    assert Path(caught.value.where).is_dir()
    monkeypatch.setattr(removal.shutil, "rmtree", real)
    remove_run(ended(root.with_name("r2")))  # the next removal also deletes what was left
    assert list((tmp_path / "s").iterdir()) == []
