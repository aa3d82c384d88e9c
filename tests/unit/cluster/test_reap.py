"""Reap removes exactly what dead runs left behind."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import Swept, reap
from density_study.cluster.state import lease
from density_study.cluster.state.tags import tagged
from tests.support.made_runs.crashed import Crashed, crashed

__all__ = ["crashed"]  # the fixture

pytestmark = pytest.mark.usefixtures("runtime")
NOTHING = Swept((), ())


def test_resources_of_a_killed_run_are_removed(crashed: Crashed, tmp_path: Path) -> None:
    foreign = subprocess.Popen(["sleep", "60"])
    crashed.kill()
    try:
        (reaped,) = reap(tmp_path / "runs").reaped
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
    assert reaped.tag == crashed.tag
    assert f"process {crashed.process.pid}" in str(reaped)
    assert str(crashed.data) in str(reaped)
    assert tagged(crashed.tag) == []
    assert not crashed.data.exists()
    assert lease.holder() is None
    assert reap(tmp_path / "runs") == NOTHING


def test_a_dry_run_reports_and_changes_nothing(crashed: Crashed, tmp_path: Path) -> None:
    crashed.kill()
    before = crashed.journal.path.read_text()
    (reaped,) = reap(tmp_path / "runs", dry_run=True).reaped
    assert "would remove process" in str(reaped)
    assert len(tagged(crashed.tag)) == 1
    assert crashed.data.exists()
    assert lease.holder() is not None
    assert crashed.journal.path.read_text() == before


def test_a_live_run_is_left_alone(crashed: Crashed, tmp_path: Path) -> None:
    assert reap(tmp_path / "runs") == NOTHING
    assert len(tagged(crashed.tag)) == 1
    assert crashed.data.exists()


def test_an_ended_run_with_leftovers_is_reaped_though_its_owner_lives(
    crashed: Crashed, tmp_path: Path
) -> None:
    crashed.journal.write("run-ended", outcome="failed", message="")
    assert len(reap(tmp_path / "runs").reaped) == 1
    assert tagged(crashed.tag) == []


def test_a_run_reopened_after_its_end_is_live(crashed: Crashed, tmp_path: Path) -> None:
    opening = next(crashed.journal.read())
    crashed.journal.write("run-ended", outcome="failed", message="")
    crashed.journal.write("run-opened", **{k: opening[k] for k in ("study", "run", "tag", "owner")})
    assert reap(tmp_path / "runs") == NOTHING


def test_callers_pass_their_own_removal(crashed: Crashed, tmp_path: Path) -> None:
    crashed.kill()
    calls: list[tuple[Path, bool]] = []

    def records(root: Path, dry_run: bool) -> tuple[str, ...]:
        calls.append((root, dry_run))
        return ("record t1 closed",)

    (reaped,) = reap(tmp_path / "runs", on_run=records).reaped
    assert calls == [(crashed.root, False)]
    assert str(reaped).endswith("record t1 closed")


def test_processes_of_a_run_whose_folder_was_deleted_are_named(
    crashed: Crashed, tmp_path: Path
) -> None:
    crashed.kill()
    shutil.move(crashed.root, tmp_path / "elsewhere")
    (left,) = reap(tmp_path / "runs").left_alone
    assert left.tag == crashed.tag
    assert f"{crashed.root} was deleted or moved" in left.why
    assert left.why.endswith(f"kill -9 {crashed.process.pid}")
    assert len(tagged(crashed.tag)) == 1
    shutil.move(tmp_path / "elsewhere", crashed.root)
    assert len(reap(tmp_path / "runs").reaped) == 1
    assert reap(tmp_path / "runs") == NOTHING


def test_a_folder_without_runs_is_accepted(tmp_path: Path) -> None:
    assert reap(tmp_path / "none") == NOTHING
