"""Each job runs alone, as a user submits it: `spark-submit jobs/<job>.py RUN`."""

from __future__ import annotations

import io
import os
import pkgutil
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import jobs
from analysis.store import read_table
from analysis.tables import TABLES
from cluster.stack.java import find_java
from tests.spark.conftest import Analysed

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BIN = Path(sys.executable).parent
PRINTING = sorted(
    module.name
    for module in pkgutil.iter_modules(jobs.__path__)
    if hasattr(found := import_module(f"jobs.{module.name}"), "main") and hasattr(found, "INPUTS")
)
"""Jobs that print the rows they make."""
WITHOUT_ROWS = frozenset({"price_performance"})
"""The world's hosts have no price; see test_series.py for those of hosts that have one."""
IN_MAKE_TEST = ("latency", "utilization")
"""Their mains are alike: the others have `make live`, as each starts a Spark of its own."""


def submit(job: str, root: Path) -> subprocess.CompletedProcess[str]:
    """As from a shell in which this environment is activated, in another folder than the project's."""
    java = find_java()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    env |= {"PATH": f"{BIN}:{os.environ['PATH']}", "JAVA_HOME": str(java.home)}
    argv = [str(BIN / "spark-submit"), "--master", "local[1]"]
    argv += ["--driver-java-options", "-XX:TieredStopAtLevel=1"]
    argv += ["--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.ui.enabled=false"]
    argv += [str(Path(jobs.__path__[0]) / f"{job}.py"), str(root)]
    return subprocess.run(argv, env=env, cwd=root, capture_output=True, text=True, check=False)


def test_there_are_as_many_as_are_tested() -> None:
    assert set(IN_MAKE_TEST) < set(PRINTING) and len(PRINTING) >= 10, PRINTING


@pytest.mark.parametrize(
    "job",
    [job if job in IN_MAKE_TEST else pytest.param(job, marks=pytest.mark.slow) for job in PRINTING],
)
def test_a_job_that_prints(job: str, world: Analysed, spark: SparkSession) -> None:
    process = submit(job, world.root)
    assert process.returncode == 0, process.stderr[-2000:]
    expected = io.StringIO()
    with redirect_stdout(expected):
        import_module(f"jobs.{job}").main([str(world.root)], spark)
    assert process.stdout == expected.getvalue()
    assert (len(process.stdout.splitlines()) > 1) != (job in WITHOUT_ROWS)


def test_ingest(world: Analysed, tmp_path: Path) -> None:
    root = tmp_path / "run"
    shutil.copytree(world.root, root, ignore=shutil.ignore_patterns("tables", "report"))
    process = submit("ingest", root)
    assert process.returncode == 0, process.stderr[-2000:]
    made = [path.name for path in (root / "tables").iterdir() if path.is_dir()]
    assert len(made) >= 15
    for name in made:
        expected = world.table(name)
        pd.testing.assert_frame_equal(read_table(root, TABLES[name]), expected, obj=name)


def test_a_run_that_was_not_ingested_is_told_so(tmp_path: Path) -> None:
    process = submit("latency", tmp_path)
    assert process.returncode == 1
    # spark-submit sends what Python says on either stream to standard output
    assert "'latency_percentiles' is not there" in process.stdout
