"""The DAG `capacity_plan` in process: what triggers it, and what it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dags.airflow_home.home import project_root

pytestmark = pytest.mark.dag


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("capacity")
    argv = [sys.executable, "-m", "tests.dag.capacity_scenario", str(folder)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    value: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return value


def test_a_study_that_published_tells_which_run_has_new_tables(told: dict[str, Any]) -> None:
    assert told["study"] == "success"
    assert told["events"] == [{"asset": "density_study_tables", "extra": {"run": told["root"]}}]


def test_the_plan_listens_to_what_the_study_tells(told: dict[str, Any]) -> None:
    assert told["listens"] == ["density_study_tables"]


def test_a_plan_or_an_excuse_lies_beside_the_report(told: dict[str, Any]) -> None:
    assert told["planned"]["state"] == "success"
    assert told["planned"]["tasks"] == {"runs[-1]": "success", "plan[0]": "success"}
    report = Path(told["root"]) / "report"
    answer = json.loads((report / "capacity-plan.json").read_text())
    assert answer["kind"] == "excuse", "the made-up points have no group for HBase"
    assert any("no measured group provides hbase_write" in text for text in answer["reasons"])
    assert json.loads((report / "model.json").read_text())["scaling"]


def test_nothing_named_bad_promises_and_unknown_keys_fail(told: dict[str, Any]) -> None:
    assert told["not named"]["state"] == "failed"
    assert told["bad promise"]["state"] == "failed"
    assert told["unknown key"] == {"state": "failed", "tasks": {
        "runs[-1]": "failed", "plan[-1]": "upstream_failed"}}  # fmt: skip
