"""Pruning removes trees of other versions; current, used and foreign trees stay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.stack import ensure
from density_study.cluster.stack.prune import in_use, other_trees, remove
from density_study.dags.cli.stack_command import prune
from tests.support.toy_stack import ToyStack


@pytest.fixture
def old(toy: ToyStack) -> Path:
    """The home of a tree assembled before its pom changed; the new tree exists too."""
    before = ensure("toy").home
    pom = toy.recipe.pom
    pom.write_text(pom.read_text() + "\n")
    assert ensure("toy").home != before
    return before


def test_a_tree_of_another_pom_is_removed_and_the_current_tree_stays(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = ensure("toy").home
    prune(dry_run=True, as_json=True)
    shown = {"mib": 0, "folder": str(old)}
    assert json.loads(capsys.readouterr().out) == [{"state": "unused", **shown}]
    assert old.exists()
    prune(as_json=True)
    assert json.loads(capsys.readouterr().out) == [{"state": "removed", **shown}]
    assert not old.exists()
    assert ensure("toy").home == ours
    remaining = [path.name for path in ours.parent.iterdir() if path.is_dir()]
    assert remaining == [ours.name]


def test_a_folder_without_a_stack_manifest_stays(old: Path) -> None:
    stacks = old.parent
    (stacks / "photos").mkdir()
    (stacks / "toy-1.0-0123456789abcdef").mkdir()
    other = stacks / "toy-1.0-0123456789abcde0"
    other.mkdir()
    (other / "manifest.json").write_text(json.dumps({"name": "else", "version": "1.0"}))
    (stacks / "toy-1.0-0123456789abcde1").symlink_to(old)
    assert other_trees() == [old]


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_tree_used_by_a_process_stays(
    old: Path, by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jar = str(old / "lib" / "a-1.jar")
    argv, env = [sys.executable, "-c", "input()"], {}
    if by == "argument":
        argv.append(f"-cp={jar}")
    else:
        env["CLASSPATH"] = f"/x.jar:{jar}"
    with subprocess.Popen(argv, stdin=subprocess.PIPE, env=env) as user:
        while not in_use(old):  # until it has become Python
            assert user.poll() is None
        assert not remove(old)
        prune(dry_run=True, as_json=True)
        assert json.loads(capsys.readouterr().out)[0]["state"] == "in use"
        user.communicate(b"\n")
    assert old.exists()
    assert remove(old)


def test_an_empty_cache_has_nothing_to_prune(toy: ToyStack) -> None:
    assert other_trees() == []
