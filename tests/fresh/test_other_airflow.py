"""Another minor version of Airflow: its own scheduler, UI and plugin, on the simulated backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from tests.dag.backend import SMALL, expected_order, order
from tests.dag.web import Study, Web, started
from tests.fresh.environments import OTHER_AIRFLOW, other_airflow

pytestmark = [pytest.mark.dag, pytest.mark.slow, pytest.mark.timeout(0)]
NAME = "elsewhere"
LATE = "notify: [{webhook: hook, events: [late]}]\n"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("other")
    (folder / "studies").mkdir()
    (folder / "studies" / "alert.yaml").write_text(
        SMALL.replace("study: small", "study: alert") + LATE
    )
    with started(folder, NAME, python=other_airflow()) as airflow:
        yield airflow


def test_it_is_the_other_version_and_loads_every_dag(web: Web) -> None:
    assert web.ask("GET", "/version")["version"] == OTHER_AIRFLOW
    assert web.import_errors() == {}
    assert {"capacity_plan", "study_alert", "study_quickstart", "study_talk-2013"} <= web.dags()


def test_a_study_succeeds_and_a_cleared_trial_is_measured_again(web: Web) -> None:
    study = Study(web, NAME)
    run_id = study.completes()
    run = study.run
    assert order(run.root) == expected_order(run)
    again = run.plan.trials[0]
    study.clear(run_id, f"{again.build}.{str(again.trial).removeprefix(f'{again.build}-')}")
    assert study.wait_over(run_id) == "success"
    assert order(run.root).count(again.label) == 2
    assert study.nothing_stands()


def test_the_plugin_shows_the_report_of_the_dag_run(web: Web) -> None:
    study = Study(web, NAME)
    run_id = web.dag_runs(study.dag)[-1]["dag_run_id"]
    answer = requests.get(
        f"http://127.0.0.1:{web.port}/density-study/dag-run",
        params={"dag_id": study.dag, "run_id": run_id},
        headers={"Authorization": f"Bearer {web.token}"},
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    assert "a report" in answer.text
