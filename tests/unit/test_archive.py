"""Where Spark's class-data archive lies, that a session does without one, and that old ones go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.errors import StudyError
from cluster.stack.java import Java
from jobs import archive
from jobs.archive import archive_flags, archive_path, ensure_archive

JAVA = Java(Path("/usr/lib/jvm/java-17"), "17.0.15")


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(archive, "find_java", lambda: JAVA)


def test_without_an_archive_the_jvm_gets_no_flag() -> None:
    assert archive_flags(JAVA) == ()


def test_an_archive_is_for_one_java() -> None:
    path = archive_path(JAVA)
    path.parent.mkdir(parents=True)
    path.touch()
    assert archive_flags(JAVA) == (f"-XX:SharedArchiveFile={path}",)
    assert archive_flags(Java(JAVA.home, "17.0.16")) == ()


def test_it_is_made_once_and_that_of_another_java_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Path] = []

    def record(aside: Path) -> None:
        aside.touch()
        recorded.append(aside)

    monkeypatch.setattr(archive, "_record", record)
    of_before = archive_path(Java(JAVA.home, "17.0.14"))
    of_before.parent.mkdir(parents=True)
    of_before.touch()
    beside = of_before.with_name("notes.txt")
    beside.touch()
    assert ensure_archive() == ensure_archive() == archive_path(JAVA)
    assert len(recorded) == 1
    assert sorted(of_before.parent.iterdir()) == sorted([archive_path(JAVA), beside])


def test_half_an_archive_of_a_process_that_was_killed_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_record", lambda aside: aside.touch())
    path = archive_path(JAVA)
    path.parent.mkdir(parents=True)
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead, alive = (path.with_name(f".{path.name}.{pid}") for pid in (ended.pid, os.getppid()))
    dead.touch()
    alive.touch()
    ensure_archive()
    assert sorted(path.parent.iterdir()) == sorted([path, alive])


def test_a_java_that_writes_none_is_told_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(archive, "_record", lambda aside: None)
    with pytest.raises(StudyError, match="wrote no archive"):
        ensure_archive()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
