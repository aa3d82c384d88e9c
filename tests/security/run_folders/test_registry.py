"""Where this user's own runs are remembered, and what ends the asking of hosts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import reap as reaping
from density_study.cluster.model.errors import HostLostError, InputError
from density_study.cluster.state import own_runs
from density_study.cluster.state.birth import birth_ns
from density_study.cluster.state.journal import Journal
from density_study.workloads.execution.opening import open_run
from tests.security.run_folders.crafted import build, craft, study, write
from tests.support.drafts import QUICKSTART

TAG = "s/20260101T000000Z"
DESTROYED = {"event": "destroyed", "build": "b1", "tag": f"{TAG}/b1", "proof": {"found": 0}}
ENDED = {"event": "run-ended", "outcome": "failed", "message": ""}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What asks a host: here, none answers."""
    found: list[str] = []

    def lost(*given: object) -> tuple[str, ...]:
        found.append(str(given[0]))
        raise HostLostError("it does not answer.", "host h1", "switch it on.")

    monkeypatch.setattr(reaping, "leftovers_of", lost)
    monkeypatch.setattr(reaping, "release_hosts", lost)
    return found


def own(runs: Path, *lines: dict[str, object]) -> Path:
    root = craft(runs / TAG, build(TAG, "physical"), *lines)
    own_runs.register(root)
    return root


def test_hosts_of_a_run_whose_removal_is_proved_are_not_asked_again(
    runs: Path, asked: list[str]
) -> None:
    own(runs, DESTROYED, ENDED)
    for arguments in (["reap", "--runs", runs, "--dry-run"], ["reap", "--runs", runs]):
        assert study(*arguments).exit_code == 0
    assert asked == []


def test_a_killed_run_is_reaped_once(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []
    monkeypatch.setattr(reaping, "release_hosts", lambda tag, _: released.append(tag))
    root = own(runs, DESTROYED)
    for _ in range(3):
        assert study("reap", "--runs", runs).exit_code == 0
    assert released == [TAG]
    write(root, {"event": "run-opened", "study": "s", "run": TAG[2:], "tag": TAG, "owner": None}, ENDED,
          build(TAG, "local"))  # fmt: skip
    assert reaping._standing(root, Journal(root / "journal.jsonl")), "it was built again"


def test_a_build_without_a_proof_is_asked_for(runs: Path, asked: list[str]) -> None:
    own(runs, DESTROYED, build(TAG, "physical"), ENDED)
    result = study("reap", "--runs", runs)
    assert result.exit_code == 1
    assert sum(one.startswith("Site") for one in asked) == 1  # and its leases


def test_a_process_that_is_left_after_the_proof_is_still_removed(runs: Path) -> None:
    own(runs, DESTROYED, ENDED)
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, "STUDY_TAG": f"{TAG}/b1"})
    try:
        assert "sleep" in study("reap", "--runs", runs).stdout
        assert left.wait(10) == -15
    finally:
        left.kill()
        left.wait()


def test_entries_are_private_and_go_with_the_run(runs: Path, tmp_path: Path) -> None:
    root = own(runs, DESTROYED, ENDED)
    state = tmp_path / "state"
    (entry,) = (state / "runs").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (state, state / "runs", entry)] == [
        0o700, 0o700, 0o600
    ]  # fmt: skip
    assert study("rm", root, "--runs", runs, "--yes").exit_code == 0
    assert list((state / "runs").iterdir()) == [] and not root.exists()


def test_a_folder_is_the_same_after_a_rename_a_touch_and_a_change_of_its_mode(runs: Path) -> None:
    root = own(runs)
    moved = root.rename(root.with_name("20270101T000000Z"))
    for path in (moved, *moved.iterdir()):
        os.utime(path, (0, 0))
    moved.chmod(0o700)
    assert own_runs.is_registered(moved)


def test_another_folder_with_the_same_inode_is_another_folder(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = own(runs)
    if birth_ns(root) == 0:
        pytest.skip("this file system does not tell when a folder was made")
    later = birth_ns(root) + 1
    monkeypatch.setattr(own_runs, "birth_ns", lambda _: later)
    assert not own_runs.is_registered(root)
    monkeypatch.setattr(own_runs, "birth_ns", lambda _: 0)
    assert own_runs.is_registered(root), "where it is not told, the inode and the key decide"


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"inode": "x"}'])
def test_a_damaged_entry_is_a_lost_one(runs: Path, tmp_path: Path, text: str) -> None:
    root = own(runs)
    (entry,) = (tmp_path / "state" / "runs").iterdir()
    entry.write_text(text)
    assert "--claim" in own_runs.refusal(root)


@pytest.mark.parametrize("key", ["", "../../../etc/passwd", "x" * 32, "A" * 100_000])
def test_a_key_of_strangers_leads_nowhere(runs: Path, key: str) -> None:
    root = own(runs)
    (root / own_runs.KEY).write_text(key)
    assert not own_runs.is_registered(root)


def test_a_state_folder_that_others_may_enter_is_refused(runs: Path, tmp_path: Path) -> None:
    root = own(runs)
    (tmp_path / "state").chmod(0o755)
    with pytest.raises(InputError, match="0700") as caught:
        own_runs.is_registered(root)
    assert "DENSITY_STUDY_STATE" in caught.value.remedy
    assert study("reap", "--runs", runs).exit_code == 2


def test_a_study_does_not_begin_without_a_state_folder(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DENSITY_STUDY_STATE", str(tmp_path / "file" / "below"))
    with pytest.raises(InputError, match="remembers your runs"):
        open_run(QUICKSTART, runs)
    assert list(runs.iterdir()) == []


def home_of(environment: dict[str, str]) -> str:
    code = "from density_study.cluster.state import own_runs; print(own_runs._state_dir())"
    argv = [sys.executable, "-c", code]
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(
        argv, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_the_state_folder_is_in_the_home_folder(tmp_path: Path) -> None:
    home, settings = tmp_path / "home", tmp_path / "settings.toml"
    home.mkdir()
    assert home_of({"HOME": str(home)}) == f"{home}/.local/state/density-study/runs"
    settings.write_text(f'state = "{tmp_path}/kept"\n')
    named = {"HOME": str(home), "DENSITY_STUDY_SETTINGS": str(settings)}
    assert home_of(named) == f"{tmp_path}/kept/runs"
    shutil.rmtree(home)
    home.write_text("no folder")
    assert "set DENSITY_STUDY_STATE" in home_of({"HOME": str(home)})


def test_the_hourly_dag_takes_no_folder() -> None:
    """By its text: Airflow takes seconds to import."""
    text = (Path(own_runs.__file__).parents[2] / "dags" / "reap_clusters.py").read_text()
    parameters = text.partition("PARAMS = {")[2].partition("\n}")[0]
    assert '"dry_run": Param' in parameters and parameters.count("Param(") == 1
