"""A study with `schedule:` is its own DAG, and a slower run fails a task named regression."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from density_study.dags.airflow_home.home import project_root
from tests.dag.scheduled_scenarios import HISTORY

pytestmark = [pytest.mark.dag, pytest.mark.slow]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scheduled")
    argv = [sys.executable, "-m", "tests.dag.scheduled_scenarios", str(folder)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    value: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return value


def test_a_schedule_is_that_of_the_studys_dag(results: dict[str, Any]) -> None:
    assert results["dags"]["study_nightly"] == "0 2 * * 6"
    assert "file:///release" in results["dags"]["study_on-release"]
    assert results["dags"]["study_quickstart"] == "None"
    assert "study_broken" not in results["dags"], "an invalid file, see test_study_files.py"


def test_the_first_run_has_no_comparison(results: dict[str, Any]) -> None:
    first = results["runs"][0]
    assert (first["state"], first["regression"]) == ("success", "skipped")
    assert first["comparison"] is None


def test_a_trigger_with_an_unknown_key_is_refused_and_opens_no_run(results: dict[str, Any]) -> None:
    assert results["refused"] == ["failed", len(results["runs"]) + HISTORY]


def test_a_slower_run_fails_the_task_and_the_run_but_not_its_conclusion(
    results: dict[str, Any],
) -> None:
    first, second = results["runs"]
    assert second["run"] > first["run"], "a scheduled run is always a new one"
    assert (second["state"], second["regression"]) == ("failed", "failed")
    assert second["conclude"] == "success"
    assert second["comparison"]["baseline"][-1] == first["run"]
    outcomes = [change["outcome"] for change in second["comparison"]["changes"]]
    assert outcomes == ["regression"]
