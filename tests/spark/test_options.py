"""The user's Spark options reach the session and take precedence over derived ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from density_study.dags.airflow_home.home import project_root
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_the_event_log_is_in_the_run_and_options_take_effect(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / "small" / RUN)
    factory.ycsb("b1-v1-flash", seconds=8, rate=40)
    root = factory.close()
    options = (
        "spark.eventLog.enabled=true",
        "spark.eventLog.compress=false",
        "spark.sql.shuffle.partitions=7",
        "spark.master=local[1]",
    )
    argv = [
        sys.executable,
        "-m",
        "density_study.dags.cli.main",
        "report",
        str(root),
        "--format",
        "json",
    ]
    argv += [word for option in options for word in ("--conf", option)]
    done = subprocess.run(argv, cwd=project_root(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (logged,) = (root / "spark-events").glob("*/events_*")
    text = logged.read_text()
    assert "compute density_study.jobs.test_cases.test_case_metrics" in text
    assert '"spark.sql.shuffle.partitions":"7"' in text.replace(" ", "")
    assert '"spark.sql.shuffle.partitions":"1"' not in text.replace(" ", "")
