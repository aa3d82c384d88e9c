"""An operator's actions in Airflow's UI: trigger again, mark failed, clear, stop. States stay
true."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from analysis.capacity.inputs.catalogue import EXAMPLE
from analysis.capacity.plan.plan import PLAN
from dags.airflow_home.home import Home, project_root
from dags.run_status.status import Status, status_of
from tests.dag.backend import expected_order, order, wait_until
from tests.dag.web import Study, Web, started

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v2-flash testdfsio-write-n2"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("operator")
    with started(folder, DENSITY_STUDY_CATALOGUE=str(EXAMPLE)) as web:
        yield web


def status(study: Study) -> Status:
    return status_of(study.run)


@pytest.mark.parametrize("times", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_study_runs_repeatedly_with_a_capacity_plan_between(web: Web, times: int) -> None:
    study = Study(web, f"{times}-times")
    for count in range(1, times + 1):
        planned = len(web.dag_runs("capacity_plan"))
        assert web.wait_over(web.trigger(**study.conf)) == "success"
        wait_until(lambda: len(web.dag_runs("capacity_plan")) > planned, 120, "a plan begins")  # noqa: B023
        plan = web.dag_runs("capacity_plan")[-1]["dag_run_id"]
        assert web.wait_over(plan, "capacity_plan") == "success"
        assert [(folder / "report" / PLAN).exists() for folder in study.folders()] == [True] * count
        assert status(study).state == "ok"


def test_a_run_marked_failed_is_torn_down_ended_and_resumed(web: Web) -> None:
    study = Study(web, "tagged")
    study.break_down(**{TRIAL: "sleep 120"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    web.ask("PATCH", f"/dagRuns/{run_id}", state="failed")
    assert web.wait_over(run_id) == "failed", "a failed run is never called a success"
    assert web.state_of(run_id, "tear_down") == "success"
    assert web.state_of(run_id, "conclude") == "failed"
    assert web.state_of(run_id, "report") == "skipped"
    assert order(study.run.root)[-1] == "down b1-v2-flash"
    assert not list(study.run.root.glob("builds/*/standing"))
    ended = status(study)
    assert ended.state == "failed"
    assert "marked failed or success in Airflow" in ended.failures[0]
    assert TRIAL in ended.failures[0]
    assert ended.progress.remaining_s == 0
    assert status(study).progress.elapsed_s == ended.progress.elapsed_s, "the clock has stopped"
    study.break_down()
    assert web.wait_over(web.trigger(**study.conf)) == "success"
    assert len(study.folders()) == 1
    assert status(study).state == "ok"


@pytest.mark.slow
def test_a_step_marked_failed_fails_its_run(web: Web) -> None:
    study = Study(web, "one-step")
    study.break_down(**{TRIAL: "sleep 120"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    slot = next(row for row in web.rows(run_id) if row["state"] == "running")
    web.ask(
        "PATCH", f"/dagRuns/{run_id}/taskInstances/step/{slot['map_index']}", new_state="failed"
    )
    study.break_down()
    assert web.wait_over(run_id) == "failed"
    assert status(study).state == "failed"
    assert not list(study.run.root.glob("builds/*/standing"))


def test_clearing_a_step_of_a_finished_run_is_refused_and_clearing_all_repeats_it(web: Web) -> None:
    study = Study(web, "clear-step")
    run_id = web.trigger(**study.conf)
    assert web.wait_over(run_id) == "success"
    before = order(study.run.root)
    web.clear(run_id, ("step", 1))
    assert web.wait_over(run_id) == "success", "the run itself is as it was"
    assert len(study.folders()) == 1
    assert [act for act in order(study.run.root) if act not in before] == []
    assert status(study).state == "ok"
    cleared = next(row for row in web.rows(run_id) if row["map_index"] == 1)
    assert cleared["state"] == "failed"
    log = web.log_of(run_id, "step", 1)
    assert "Clear cannot repeat a part of it" in log
    assert "trigger the study again" in log
    web.clear(run_id)
    assert web.wait_over(run_id) == "success"
    assert len(study.folders()) == 2
    expected = expected_order(study.run)
    assert order(study.run.root)[: len(expected)] == expected
    assert status(study).state == "ok"


@pytest.mark.slow
def test_clearing_the_failed_tasks_of_a_stopped_run_starts_nothing(web: Web) -> None:
    study = Study(web, "clear-failed")
    study.break_down(**{TRIAL: "sleep 120"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    web.ask("PATCH", f"/dagRuns/{run_id}", state="failed")
    web.wait_over(run_id)
    before, ended = order(study.run.root), status(study)
    study.break_down()
    web.clear(run_id, only_failed=True)
    assert web.wait_over(run_id) == "failed"
    assert order(study.run.root) == before
    assert status(study).state == "failed"
    assert status(study).failures == ended.failures
    assert status(study).progress.elapsed_s == ended.progress.elapsed_s


@pytest.mark.slow
def test_clearing_a_failed_analysis_analyses_the_same_run_again(web: Web) -> None:
    study = Study(web, "clear-analysis")
    study.break_down(series="fail")
    run_id = web.trigger(**study.conf)
    assert web.wait_over(run_id) == "failed"
    assert status(study).state == "failed"
    study.break_down()
    web.clear(run_id, "series", down=True)
    assert web.wait_over(run_id) == "success"
    assert len(study.folders()) == 1
    assert status(study).state == "ok"


@pytest.mark.slow
def test_clearing_a_step_of_a_running_run_changes_nothing(web: Web) -> None:
    study = Study(web, "clear-early")
    study.break_down(**{TRIAL: "sleep 20"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    web.clear(run_id, ("step", 0))
    assert web.wait_over(run_id) == "success"
    assert len(study.folders()) == 1
    assert order(study.run.root)[: len(study.run.plan.steps)] == [
        step.label for step in study.run.plan.steps
    ]
    assert status(study).state == "ok"


@pytest.mark.slow
def test_clearing_a_whole_run_during_a_trial_resumes_it(web: Web) -> None:
    study = Study(web, "clear-all-early")
    study.break_down(**{TRIAL: "sleep 120"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    study.break_down()
    web.clear(run_id)
    assert web.wait_over(run_id) == "success"
    assert len(study.folders()) == 1
    acts = order(study.run.root)
    first = acts.index(TRIAL)
    anew = [step.label for step in study.run.plan.steps if step.build == "b1-v2-flash"]
    assert acts[first + 1 :][: 1 + len(anew)] == ["down b1-v2-flash", *anew]
    assert status(study).state == "ok"


def test_an_unknown_key_is_refused_and_starts_nothing(web: Web) -> None:
    study = Study(web, "misspelt")
    run_id = web.trigger(**study.conf, frsh=True)
    assert web.wait_over(run_id) == "failed"
    assert web.state_of(run_id, "open_run") == "failed"
    assert not study.runs.exists()
    log = web.log_of(run_id, "open_run")
    assert "unknown key 'frsh'; did you mean 'fresh'?" in log
    assert "add_repetitions, fresh, only, overrides, run, runs, spec" in log


def test_a_run_cut_short_ends_when_airflow_stops(web: Web) -> None:
    """The last test: it stops Airflow."""
    study = Study(web, "cut")
    study.break_down(**{TRIAL: "sleep 120"})
    run_id = web.trigger(**study.conf)
    study.reaches(TRIAL)
    stopped = datetime.now(UTC)
    web.process.send_signal(signal.SIGINT)
    web.process.wait(60)
    airflow = web.folder / "airflow"
    environment = {**web.environment, **Home(airflow, project_root()).web_environment(web.port)}
    subprocess.run(
        [sys.executable, "-m", "dags.web.component", "prepare"],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    with sqlite3.connect(airflow / "web.db") as database:
        [(state, ended)] = database.execute(
            "select state, end_date from dag_run where run_id = ?", (run_id,)
        ).fetchall()
        tasks = database.execute(
            "select state, start_date, end_date, duration from task_instance where run_id = ?",
            (run_id,),
        ).fetchall()
    assert state == "failed"
    assert abs(_time(ended) - stopped) < timedelta(seconds=30), "not when it was started again"
    assert {state for state, *_ in tasks} == {"success", "failed"}
    begun = [task for task in tasks if task[1]]
    assert [task for task in begun if task[2] is None or task[3] is None] == []
    assert max(_time(end) for *_, end, _ in begun) <= _time(ended)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
