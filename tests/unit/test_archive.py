"""Where Spark's class-data archive lies, and that a session does without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.stack.java import Java
from jobs.archive import archive_flags, archive_path

JAVA = Java(Path("/usr/lib/jvm/java-17"), "17.0.15")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path))


def test_without_an_archive_the_jvm_gets_no_flag() -> None:
    assert archive_flags(JAVA) == ()


def test_an_archive_is_for_one_java() -> None:
    path = archive_path(JAVA)
    path.parent.mkdir(parents=True)
    path.touch()
    assert archive_flags(JAVA) == (f"-XX:SharedArchiveFile={path}",)
    assert archive_flags(Java(JAVA.home, "17.0.16")) == ()
