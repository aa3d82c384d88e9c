"""Stacks are copied to a host by its real agent, on this machine."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.providers.ssh.provisioning import provide_stacks
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.stack import Stack
from density_study.cluster.state.journal import Journal

TARGET = Target("h1", "192.0.2.11", 22, "study", "/runs/s/known_hosts")
TAG = "s/r/b1"


@pytest.fixture
def copy(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StackCopy]:
    """Of a stack of two jars, not yet on the host."""
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "exec $last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    home = tmp_path / "cache" / "toy-1"
    (home / "lib").mkdir(parents=True)
    jars = []
    for name in ("a.jar", "b.jar"):
        content = os.urandom(1000)
        (home / "lib" / name).write_bytes(content)
        jars.append({"name": name, "sha256": hashlib.sha256(content).hexdigest()})
    (home / "manifest.json").write_text(json.dumps({"jars": jars}))
    yield StackCopy(
        Stack("toy", "1", home, "0"), tmp_path / "work" / "stacks" / "toy-1", "/java", ""
    )
    close_channels()


def provide(copy: StackCopy, journal: Journal) -> list[str]:
    """The copies that were intended."""
    before = len(journal.intents("copy-stack", TAG))
    provide_stacks({"h1": TARGET}, copy.home.parents[1], {"h1": [copy]}, TAG, journal)
    return [intent.path for intent in journal.intents("copy-stack", TAG)][before:]


def test_a_stack_is_copied_once_and_verified_every_time(copy: StackCopy, tmp_path: Path) -> None:
    journal, home = Journal(tmp_path / "journal.jsonl"), Path(copy.home)
    assert provide(copy, journal) == [str(home)]
    assert sorted(path.name for path in home.rglob("*")) == ["SHA256SUMS", "a.jar", "b.jar", "lib"]
    assert [path.name for path in home.parent.iterdir()] == ["toy-1"]
    assert (home.parents[1] / "README").read_text().startswith("density-study")
    assert provide(copy, journal) == []
    (home / "lib" / "b.jar").write_bytes(b"damaged")
    with pytest.raises(StudyError, match=r"1 files are not what was copied, lib/b\.jar") as caught:
        provide(copy, journal)
    assert "'h1'" in caught.value.where


def test_a_copy_that_was_cut_short_is_made_again(copy: StackCopy, tmp_path: Path) -> None:
    journal, home = Journal(tmp_path / "journal.jsonl"), Path(copy.home)
    (Path(copy.aside(TAG)) / "lib").mkdir(parents=True)
    (Path(copy.aside(TAG)) / "lib" / "a.jar").write_bytes(b"half")
    home.mkdir(parents=True)  # without its sums it is not complete
    assert provide(copy, journal) == [str(home)]
    assert len((home / "lib" / "a.jar").read_bytes()) == 1000
    assert [path.name for path in home.parent.iterdir()] == ["toy-1"]
