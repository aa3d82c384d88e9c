"""The DAG `capacity_plan` in process: its trigger and its output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from density_study.dags.airflow_home.home import project_root

pytestmark = pytest.mark.dag


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("capacity")
    argv = [sys.executable, "-m", "tests.dag.capacity_scenario", str(folder)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    value: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return value


@pytest.mark.slow
def test_a_published_study_emits_the_run_with_new_tables(results: dict[str, Any]) -> None:
    assert results["study"] == "success"
    assert results["events"] == [
        {"asset": "density_study_tables", "extra": {"run": results["root"]}}
    ]


@pytest.mark.slow
def test_the_plan_is_triggered_by_the_studys_event(results: dict[str, Any]) -> None:
    assert results["listens"] == ["density_study_tables"]


def test_without_a_catalogue_nothing_triggers_it(
    airflow: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shipped catalogue has made-up prices: nobody asked for a plan with them."""
    monkeypatch.delenv("DENSITY_STUDY_CATALOGUE", raising=False)
    monkeypatch.delitem(sys.modules, "density_study.dags.capacity_plan", raising=False)
    from density_study.dags.capacity_plan import capacity

    assert (capacity.schedule, capacity.params["hosts"]) == (None, None)


@pytest.mark.slow
def test_a_plan_or_an_excuse_is_beside_the_report(results: dict[str, Any]) -> None:
    assert results["planned"]["state"] == "success"
    assert results["planned"]["tasks"] == {"runs[-1]": "success", "plan[0]": "success"}
    report = Path(results["root"]) / "report"
    answer = json.loads((report / "capacity-plan.json").read_text())
    assert answer["kind"] == "excuse", "the made-up points have no group for HBase"
    assert any("no measured group provides hbase_write" in text for text in answer["reasons"])
    assert json.loads((report / "model.json").read_text())["scaling"]


@pytest.mark.slow
def test_a_missing_run_no_catalogue_bad_promises_and_unknown_keys_fail(
    results: dict[str, Any],
) -> None:
    assert results["not named"]["state"] == "failed"
    assert results["no catalogue"]["state"] == "failed"
    assert results["bad promise"]["state"] == "failed"
    assert results["unknown key"] == {"state": "failed", "tasks": {
        "runs[-1]": "failed", "plan[-1]": "upstream_failed"}}  # fmt: skip
