"""Spark's JVM is started before the imports that it is started beside."""

from __future__ import annotations

import subprocess
import sys
from threading import Event

import pytest

from cluster.model.errors import StudyError
from jobs.spark import session

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "great_expectations")


def test_nothing_heavy_is_imported_before_spark_starts() -> None:
    told = f"import sys, jobs.spark.session; print(*sys.modules.keys() & {set(HEAVY)})"
    process = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
    assert (process.returncode, process.stdout.strip()) == (0, ""), process.stderr


def test_spark_is_started_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, started = Event(), Event()

    def start() -> None:
        go_on.wait(10)
        started.set()
        raise StudyError("no Java", "PATH", "install one")  # who needs Spark sees it again

    monkeypatch.setattr(session, "spark_session", start)
    session.start_spark()
    assert not started.is_set()
    go_on.set()
    assert started.wait(10)
