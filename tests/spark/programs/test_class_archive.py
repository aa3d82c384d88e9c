"""The archive of Spark's classes: mapped by sessions, and never a reason to fail."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from density_study.cluster.stack import archive
from density_study.jobs.spark import class_archive
from density_study.jobs.spark.session import ARCHIVE

pytestmark = pytest.mark.spark


def test_a_session_maps_the_archive(spark: SparkSession) -> None:
    """That `make setup` made. The JVM passes by one of other jars without a word."""
    gateway: Any = SparkContext._gateway
    assert str(ARCHIVE) in Path(f"/proc/{gateway.proc.pid}/maps").read_text()


def fails(_: Path) -> None:
    raise subprocess.CalledProcessError(1, "java")


@pytest.mark.parametrize(
    ("make", "reason"),
    [(fails, "program that makes it failed"), (Path.touch, ""), (Path.exists, "no archive")],
)
def test_an_archive_or_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], reason: str
) -> None:
    """No archive is half of one: the next set-up makes it."""
    (tmp_path / "jars").mkdir()
    made = tmp_path / "classes.jsa"
    monkeypatch.setattr(class_archive, "ARCHIVE", made)

    def run(command: list[str], **_: object) -> None:
        make(Path(command[-1]))

    monkeypatch.setattr(subprocess, "run", run)
    found = class_archive.ensure_class_archive()
    assert reason in found and bool(reason) == bool(found)
    assert made.exists() == (not reason) == made.with_suffix(".key").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {
        "jars", ".classes.lock", "classes.jsa", "classes.key",
    }  # fmt: skip


@pytest.mark.parametrize("is_there", [True, False])
def test_an_environment_of_another_user_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """Its archive was called missing, because only its owner may write one."""
    (tmp_path / "jars").mkdir()
    monkeypatch.setattr(class_archive, "ARCHIVE", tmp_path / "classes.jsa")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: Path(command[-1]).touch())
    if is_there:
        assert class_archive.ensure_class_archive() == ""

    def denied(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(archive.atomic, "locked", denied)
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path and may(path, mode))
    reason = "" if is_there else f"Permission denied ({tmp_path})."
    assert class_archive.ensure_class_archive() == reason


def test_other_jars_need_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    monkeypatch.setattr(class_archive, "ARCHIVE", tmp_path / "classes.jsa")
    made: list[str] = []

    def run(command: list[str], **_: object) -> None:
        made.append(command[-1])
        Path(command[-1]).touch()

    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        assert class_archive.ensure_class_archive() == ""
    assert len(made) == 1
    (tmp_path / "jars" / "spark.jar").touch()
    assert class_archive.ensure_class_archive() == ""
    assert len(made) == 2
