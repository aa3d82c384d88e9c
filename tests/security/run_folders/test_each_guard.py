"""Three guards keep reap from believing a foreign run. Each of them holds alone, with the others broken.

The journal of the run here names nothing that the run could not have made, so that no other guard helps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle import reap
from density_study.cluster.model.errors import InputError
from density_study.cluster.state import own_runs
from tests.security.run_folders.crafted import Canaries, build, craft, intent, study

TAG = "stranger/20260101T000000Z"
BUILD = f"{TAG}/b1"


@pytest.fixture
def data(runs: Path) -> Path:
    """A folder of data that carries the build's tag: that of the colleague whose run was copied."""
    folder = runs.parent / "disk" / "density-study" / BUILD / "w1"
    folder.mkdir(parents=True)
    (folder / "STUDY_TAG").write_text(f"{BUILD}\n")
    (folder / "part").write_text("rows")
    return folder


@pytest.fixture
def root(runs: Path, data: Path) -> Path:
    return craft(runs / TAG, build(TAG, "local"), intent("make-dir", BUILD, path=str(data)))


def break_guards(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    broken: dict[str, tuple[Any, str, Any]] = {
        "registry": (own_runs, "is_registered", lambda _: True),
        "refusal": (own_runs, "refusal", lambda _: ""),
        "acts": (reap, "check_acts", lambda *_: None),
    }
    for name in names:
        monkeypatch.setattr(*broken[name])


def test_the_data_of_an_own_run_is_removed(runs: Path, root: Path, data: Path) -> None:
    """Else the tests below would prove nothing."""
    own_runs.register(root)
    assert len(json.loads(study("reap", "--runs", runs, "--json").stdout)["reaped"]) == 1
    assert not data.exists()


def test_the_registry_alone_keeps_a_foreign_run(
    runs: Path, root: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_guards(monkeypatch, "refusal", "acts")
    found = json.loads(study("reap", "--runs", runs, "--json").stdout)
    assert (len(found["left_alone"]), found["reaped"]) == (1, [])
    assert (data / "part").exists()


def test_the_refusal_alone_keeps_a_foreign_run(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the sweep, before a run is resumed, and where it is asked what is left of it."""
    break_guards(monkeypatch, "acts")
    left = reap._sweep(root, TAG, False, None, ())
    assert isinstance(left, reap.LeftAlone) and "--claim" in left.why
    for act in (reap.clear, reap.not_proved_gone):
        with pytest.raises(InputError, match="this user has not opened it"):
            act(root)
    assert (data / "part").exists()


def test_the_check_of_acts_alone_keeps_what_no_run_made(
    runs: Path, root: Path, canaries: Canaries, monkeypatch: pytest.MonkeyPatch
) -> None:
    craft(root, intent("make-dir", BUILD, path=str(canaries.folder / "hollow" / "low")))
    break_guards(monkeypatch, "registry", "refusal")
    (failed,) = json.loads(study("reap", "--runs", runs, "--json").stdout)["failed"]
    assert "this run cannot have written that" in failed["why"]
    canaries.check()
