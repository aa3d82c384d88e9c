"""`spark-submit jobs/pipeline.py RUN` writes the pipeline's tables, in a folder and at a URI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from density_study import jobs
from density_study.cluster.stack.java import find_java
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.storage import place
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BIN = Path(sys.executable).parent


def submit(run: str, *options: str) -> subprocess.CompletedProcess[str]:
    """As from a shell with this environment activated, outside the project's folder."""
    java = find_java()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    env |= {"PATH": f"{BIN}:{os.environ['PATH']}", "JAVA_HOME": str(java.home)}
    argv = [str(BIN / "spark-submit"), "--master", "local[2]"]
    argv += ["--driver-java-options", "-XX:TieredStopAtLevel=1"]
    argv += ["--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.ui.enabled=false"]
    argv += [*options, str(Path(jobs.__path__[0]) / "pipeline.py"), run]
    return subprocess.run(argv, env=env, cwd="/", capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_tables_at_a_uri_equal_those_of_the_pipeline(world: Analysed, tmp_path: Path) -> None:
    """With an event log, in which every table's jobs have a description."""
    data = tmp_path / "store" / "run"
    shutil.copytree(world.root / "records", data / "records")
    events = tmp_path / "events"
    events.mkdir()
    log = ("--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={events}",
           "--conf", "spark.eventLog.compress=false")  # fmt: skip
    process = submit(data.as_uri(), *log)
    assert process.returncode == 0, process.stderr[-2000:]
    for name, table in TABLES.items():
        expected = world.table(name)
        tables_there = read_table(place(data.as_uri()), table)
        pd.testing.assert_frame_equal(tables_there, expected, check_exact=True, obj=name)
    assert not (data / "report").exists()
    logged = "".join(path.read_text() for path in events.glob("*/events_*"))
    assert "compute density_study.jobs.test_cases.test_case_metrics" in logged


def test_a_run_without_records_is_reported(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    process = submit(str(tmp_path))
    assert process.returncode == 1
    # spark-submit sends both of Python's streams to standard output
    assert "no closed record" in process.stdout
