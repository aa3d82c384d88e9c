"""An operator stops, marks and repeats runs in Airflow's UI. States stay true, and never do two
clusters stand at once (the fixture `web` asserts it). Clear is in test_clear.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from density_study.analysis.capacity.plan.plan import PLAN
from density_study.cluster.state.tags import tagged
from density_study.dags.run_status.status import status_of
from density_study.workloads.record.record import closed_records
from tests.dag.backend import order, wait_until
from tests.dag.web import Study, Web, task_id
from tests.support.receivers import Hook

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v2-flash testdfsio-write-n2"
NAMES = ("twice", "failed", "success", "one-trial", "waits", "refuses", "up", "misspelt")


@pytest.fixture
def planning(web: Web) -> Iterator[None]:
    """`capacity_plan` follows each run."""
    web.pause("capacity_plan", False)
    yield
    web.pause("capacity_plan", True)


@pytest.fixture
def measuring(web: Web, request: pytest.FixtureRequest) -> tuple[Study, str]:
    """A study in its last trial but one, which takes long, and its DAG run."""
    study = Study(web, request.param)
    study.break_down(**{TRIAL: "sleep 300"})
    run_id = study.trigger(fresh=True)
    study.reaches(TRIAL)
    study.break_down()
    return study, run_id


def task_of_trial(study: Study) -> str:
    step = next(step for step in study.run.plan.trials if step.label == TRIAL)
    return task_id(step)


@pytest.mark.slow
@pytest.mark.usefixtures("planning")
def test_a_run_is_followed_by_a_capacity_plan(web: Web) -> None:
    study = Study(web, "twice")
    study.completes()
    wait_until(lambda: web.dag_runs("capacity_plan"), 200, "a plan begins")
    (plan,) = web.dag_runs("capacity_plan")
    assert web.wait_over("capacity_plan", plan["dag_run_id"]) == "success"
    assert (study.run.root / "report" / PLAN).exists()
    assert status_of(study.run).state == "ok"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measuring", "state"), [("failed", "failed"), ("success", "success")], indirect=["measuring"]
)
def test_a_run_marked_by_hand_is_torn_down_ended_and_resumed(
    measuring: tuple[Study, str], state: str
) -> None:
    study, run_id = measuring
    study.mark(run_id, state)
    assert study.wait_over(run_id) == "failed", "a stopped run is never called a success"
    states = study.states(run_id)
    assert states["b1-v2-flash.down"] == "success"
    assert (states["conclude"], states["analysis.report"]) == ("failed", "skipped")
    assert study.nothing_stands()
    assert tagged(study.run.tag) == []
    ended = status_of(study.run)
    assert ended.state == "failed"
    assert "marked failed or success in Airflow" in ended.failures[0]
    assert ended.progress.remaining_s == 0
    assert status_of(study.run).progress.elapsed_s == ended.progress.elapsed_s, "the clock stopped"
    before = order(study.run.root)
    study.completes(fresh=False)
    assert len(study.folders()) == 1
    again = order(study.run.root)[len(before) :]
    assert not [act for act in again if "b1-v1-flash" in act], "its trials have records"
    assert status_of(study.run).state == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("measuring", ["one-trial"], indirect=True)
@pytest.mark.parametrize("state", ["failed", "success"])
def test_a_trial_marked_by_hand_is_not_measured_and_can_be_cleared(
    measuring: tuple[Study, str], state: str
) -> None:
    study, run_id = measuring
    task = task_of_trial(study)
    study.mark(run_id, state, task)
    assert study.wait_over(run_id) == "failed"
    states = study.states(run_id)
    assert states[task] == state
    assert states["b1-v2-flash.down"] == "success"
    assert study.nothing_stands()
    assert tagged(study.run.tag) == []
    ended = status_of(study.run)
    assert (ended.state, ended.stopped) == ("failed", True)
    assert f"{TRIAL!r} did not finish" in ended.failures[0]
    left = [name for name, state in states.items() if "b1-v2" in name and state == "skipped"]
    study.clear(run_id, task, *left)
    assert study.wait_over(run_id) == "success"
    assert {record.state for record in closed_records(study.run.records).values()} == {"complete"}
    assert status_of(study.run).state == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("state", ["failed", "success"])
def test_a_bring_up_marked_by_hand_leaves_no_cluster_and_no_trial(web: Web, state: str) -> None:
    study = Study(web, "up")
    study.break_down(**{"up b1-v1-flash": "sleep 60"})
    run_id = study.trigger(fresh=True)
    study.reaches("up b1-v1-flash")
    study.mark(run_id, state, "b1-v1-flash.up")
    study.break_down()
    assert study.wait_over(run_id) == "failed"
    assert study.nothing_stands()
    trials = [act for act in order(study.run.root) if act.startswith("trial b1-v1")]
    assert trials == []
    assert [act for act in order(study.run.root) if act.startswith("trial b1-v2")]
    assert not closed_records(study.run.records).keys() & {
        str(step.trial) for step in study.run.plan.trials if step.build == "b1-v1-flash"
    }


@pytest.mark.slow
def test_two_studies_at_once_wait_for_the_host_or_are_refused(web: Web, hook: Hook) -> None:
    """The first one runs again, after the capacity plan of its first run."""
    waits, refuses = Study(web, "waits"), Study(web, "refuses")
    first = Study(web, "twice")
    first.break_down(**{TRIAL: "sleep 300"})
    run_id = first.trigger(fresh=True)
    first.reaches(TRIAL)
    refuses.file.write_text(refuses.file.read_text() + "notify: [{webhook: hook}]\n")
    refused = refuses.trigger()
    assert refuses.wait_over(refused) == "failed"
    assert f"study {first.name!r} is running" in refuses.log_of(refused, "open")
    assert not refuses.runs.exists()
    told = [body for body in hook.bodies if body["study"] == refuses.name]
    assert [body["event"] for body in told] == ["failure"]
    assert told[0]["headline"].startswith("the run could not start: one study at a time on a host")
    waits.file.write_text(waits.file.read_text() + "when_busy: queue\n")
    waiting = waits.trigger()
    wait_until(
        lambda: waits.states(waiting)["open"] == "up_for_reschedule", 120, "it waits, in no worker"
    )
    first.end_trial()
    assert first.wait_over(run_id) == "success"
    assert waits.wait_over(waiting) == "success"
    ended = max(end for row in first.rows(run_id) if (end := row["end_date"]))
    built = next(row for row in waits.rows(waiting) if row["task_id"] == "b1-v1-flash.up")
    assert built["start_date"] > ended


@pytest.mark.slow
def test_an_unknown_key_is_refused_and_starts_nothing(web: Web) -> None:
    study = Study(web, "misspelt")
    run_id = study.trigger(frsh=True)
    assert study.wait_over(run_id) == "failed"
    assert study.states(run_id)["open"] == "failed"
    assert not study.runs.exists()
    log = study.log_of(run_id, "open")
    assert "unknown key 'frsh'; did you mean 'fresh'?" in log
