"""A scheduled study under Airflow's own scheduler: period after period, with `regression`
deciding."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from density_study.cluster.state.journal import run_folders
from density_study.dags.run_status.status import find_run, status_of
from tests.dag.backend import wait_until
from tests.dag.scheduled_scenarios import HISTORY, STUDY, write_history
from tests.dag.web import OVER, Study, Web, started

pytestmark = [pytest.mark.dag, pytest.mark.slow]
DAG = "study_nightly"
PERIODS = 3


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("periods")
    (folder / "studies").mkdir()
    every_minute = STUDY.format(schedule='"* * * * *"')
    (folder / "studies" / "nightly.yaml").write_text(every_minute)
    write_history(folder / "runs" / "nightly")
    with started(folder) as web:
        wait_until(lambda: DAG in web.dags(), 300, "the DAG is read")
        yield web


def test_only_the_slower_period_fails_and_all_runs_are_complete(web: Web) -> None:
    def periods() -> list[dict[str, str]]:
        return [run for run in web.dag_runs(DAG) if run["state"] in OVER][:PERIODS]

    wait_until(lambda: len(periods()) == PERIODS, 900, f"{PERIODS} periods are over")
    ended = periods()
    runs = run_folders(web.folder / "runs", "nightly")[HISTORY:][:PERIODS]
    assert {run["run_type"] for run in ended} == {"scheduled"}
    assert [run["state"] for run in ended] == ["success", "failed", "success"]
    study = Study(web, "nightly")
    states = [study.states(run["dag_run_id"]) for run in ended]
    assert [each["regression"] for each in states] == ["success", "failed", "success"]
    assert [each["conclude"] for each in states] == ["success"] * PERIODS
    assert find_run(None, web.folder / "runs").root in run_folders(web.folder / "runs")
    assert [status_of(find_run(root, root.parents[1])).state for root in runs] == ["ok"] * PERIODS
    compared = json.loads((runs[2] / "report" / "comparison.json").read_text())
    assert compared["baseline"][-2:] == [runs[0].name, runs[1].name]
