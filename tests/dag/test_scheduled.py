"""A study with `schedule:` is a DAG of its own, and a slower run fails a task named regression."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from dags.airflow_home.home import project_root

pytestmark = pytest.mark.dag


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scheduled")
    argv = [sys.executable, "-m", "tests.dag.scheduled_scenarios", str(folder)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    value: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return {**value, "log": ended.stdout + ended.stderr}


def test_every_valid_study_with_a_schedule_is_a_dag(told: dict[str, Any]) -> None:
    assert told["dags"] == ["study_nightly", "study_on-release"]
    assert told["schedule"] == "0 2 * * 6"


def test_one_that_is_not_valid_is_told_and_harms_no_other(told: dict[str, Any]) -> None:
    assert "no DAG for" in told["log"] and "broken.yaml" in told["log"]


def test_the_first_run_has_nothing_to_compare_with(told: dict[str, Any]) -> None:
    first = told["runs"][0]
    assert (first["state"], first["regression"]) == ("success", "skipped")
    assert first["comparison"] is None


def test_a_trigger_with_an_unknown_key_is_refused_and_opens_no_run(told: dict[str, Any]) -> None:
    assert told["refused"] == ["failed", len(told["runs"])]


def test_a_slower_run_fails_the_task_and_the_run_not_its_conclusion(told: dict[str, Any]) -> None:
    first, second = told["runs"]
    assert second["run"] > first["run"], "a scheduled run is always a new one"
    assert (second["state"], second["regression"]) == ("failed", "failed")
    assert second["conclude"] == "success"
    assert second["comparison"]["baseline"] == [first["run"]]
    outcomes = [change["outcome"] for change in second["comparison"]["changes"]]
    assert outcomes == ["regression"]
