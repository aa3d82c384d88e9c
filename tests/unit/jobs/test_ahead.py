"""Spark's JVM starts before the imports that run in parallel."""

from __future__ import annotations

import subprocess
import sys
from threading import Event

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.jobs.spark import session

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "great_expectations")


def test_no_heavy_package_is_imported_before_spark_starts() -> None:
    code = (
        f"import sys, density_study.jobs.spark.session; print(*sys.modules.keys() & {set(HEAVY)})"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stdout.strip()) == (0, ""), process.stderr


def test_spark_starts_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, started = Event(), Event()

    def start() -> None:
        go_on.wait(10)
        started.set()
        raise StudyError(
            "no Java", "PATH", "install one"
        )  # the caller that needs Spark gets the error again

    monkeypatch.setattr(session, "spark_session", start)
    session.start_spark()
    assert not started.is_set()
    go_on.set()
    assert started.wait(10)
